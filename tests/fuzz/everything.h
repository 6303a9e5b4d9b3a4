/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * everything: all that a profile holds, read as a program of the user does.
 */
#ifndef FUZZ_EVERYTHING_H
#define FUZZ_EVERYTHING_H

/* 0, or the status of what was refused first. Breaks off where the reader breaks a promise. */
int everything_read(const char *path);

#endif
