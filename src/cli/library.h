/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * library: where the libscope.so is that belongs to this command: the one SCOPE_LIBRARY names, else
 * beside the program (.libs of a build tree, ../lib), else where it was to be installed.
 */
#ifndef SC_CLI_LIBRARY_H
#define SC_CLI_LIBRARY_H

/* out holds PATH_MAX bytes and gets the real path. 0, or SC_EUNAVAIL with the reason. */
int library_find(char *out);

#endif
