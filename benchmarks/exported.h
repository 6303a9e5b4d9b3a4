/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * exported: pairs of scope_begin() and scope_end() as programs in other languages reach them: calls
 * into the library, in a file of its own because scope.h takes one of the two ways per file.
 */
#ifndef BENCH_EXPORTED_H
#define BENCH_EXPORTED_H

void exported_pairs(int region, long count);

#endif
