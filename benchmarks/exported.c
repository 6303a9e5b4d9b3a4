/* SPDX-License-Identifier: BSD-3-Clause */
#define SCOPE_NO_INLINE
#include "exported.h"

#include "scope.h"

void exported_pairs(int region, long count)
{
    for (long i = 0; i < count; i++) {
        scope_begin(region);
        scope_end(region);
    }
}
