/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that traps floating-point exceptions is not killed by the library's own arithmetic, and
 * finds no flag set that it did not raise.
 */
#include <fenv.h>
#include <mpi.h>
#include <scope.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    const int serious = FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW;

    MPI_Init(&argc, &argv);
    feclearexcept(FE_ALL_EXCEPT);
    feenableexcept(serious);
    for (int i = 0; i < 1000; i++) {
        SCOPE_BEGIN("step");
        MPI_Barrier(MPI_COMM_WORLD);
        SCOPE_END("step");
    }
    if (scope_finalize() != SCOPE_OK)
        return 1;
    if (fetestexcept(serious) != 0 || fegetexcept() != serious) {
        printf("flags %x, traps %x\n", (unsigned)fetestexcept(serious), (unsigned)fegetexcept());
        return 1;
    }
    fedisableexcept(serious);
    MPI_Finalize();
    return 0;
}
