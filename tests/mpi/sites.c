/* SPDX-License-Identifier: BSD-3-Clause
 *
 * sites: MPI calls at lines that sites.sh knows. A comment "is ROUTINE FUNCTION COUNT" stands in
 * the line of a call: how often a rank comes by; a name in capitals is a macro's. With -DPART=NAME
 * this is a shared object with a function NAME; the program links part_l and opens part_a and
 * part_b, one after the other, so that they may lie at the same address.
 */
#include <mpi.h>

static volatile int done; /* a call is never the last thing a function does */

#ifdef PART

void PART(int times);

void PART(int times)
{
    for (int i = 0; i < times; i++) {
        MPI_Barrier(MPI_COMM_WORLD); /* is MPI_Barrier PART */
        done++;
    }
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void part_l(int times);

static void open_and_call(const char *path, const char *function, int times)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), *address;
    void (*call)(int times);

    if (handle == NULL || (address = dlsym(handle, function)) == NULL) {
        fprintf(stderr, "sites: %s\n", dlerror());
        exit(1);
    }
    memcpy(&call, &address, sizeof call);
    call(times);
    dlclose(handle);
}

__attribute__((noinline)) static int sum(int value)
{
    int in = value, out = 0;

    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); /* is MPI_Allreduce sum 7 */
    done++;
    MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD); /* is MPI_Allreduce sum 7 */
    done++;
    return out;
}

int main(int argc, char **argv)
{
    int buffer = 1;

    MPI_Init(&argc, &argv); /* is MPI_Init main 1 */
    for (int i = 0; i < 5; i++) {
        MPI_Barrier(MPI_COMM_WORLD);                       /* is MPI_Barrier main 5 */
        MPI_Bcast(&buffer, 1, MPI_INT, 0, MPI_COMM_WORLD); /* is MPI_Bcast main 5 */
    }
    for (int i = 0; i < 7; i++)
        buffer = sum(i);
    part_l(3);
    open_and_call("./part_a.so", "part_a", 2);
    open_and_call("./part_b.so", "part_b", 4);
    open_and_call("./part_a.so", "part_a", 9);
    MPI_Barrier(MPI_COMM_WORLD); /* is MPI_Barrier main 1 */
    MPI_Finalize();              /* is MPI_Finalize main 1 */
    return done > 0 ? 0 : 1;
}

#endif
