/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What libFuzzer calls. Half of its damage is what it does itself.
 */
#include "fuzz.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct fuzz_random r = {seed};

    if (size == 0 || fuzz_below(&r, 2) == 0)
        return LLVMFuzzerMutate(data, size, most);
    return fuzz_mutate(data, size, most, &r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}
