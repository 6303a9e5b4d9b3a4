/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The example program: the heat equation on the unit square, explicit five-point scheme, on a
 * two-dimensional grid of ranks.  The start is one sine mode, an eigenvector of the discrete
 * operator: every step multiplies it by a factor known in closed form, so every checkpoint and
 * every residual is compared with the exact discrete answer and a wrong one makes the program
 * fail.  heat.f90 prints the same bytes.
 *
 * Usage: heat [points per side [steps]]      exit status: 0 right, 1 wrong, 2 usage
 */
#include <float.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "scope.h"

enum { POINTS = 1024, POINTS_MAX = 20000, STEPS = 300, STEPS_MAX = 10000000 };
enum { RESIDUAL_EVERY = 10, CHECKPOINTS = 4 };
enum { NORTH, SOUTH, WEST, EAST, SIDES };

static const double diffusion = 0.2;   /* dt / h^2; stable below 0.25 */
static const double vanished = 1e-100; /* squares of smaller values underflow */

struct params {
    int n; /* interior points per side */
    int steps;
};

struct grid {
    MPI_Comm comm;
    int rank, size;
    int n;
    int dims[2];
    int len[2];            /* rows and columns of this rank's block, without halo */
    int nbr[SIDES];        /* neighbours, MPI_PROC_NULL outside the square */
    MPI_Datatype column;   /* one column of the block */
    MPI_Datatype inner;    /* the block without its halo */
    double *u, *old;       /* this step and the one before: (len[0] + 2) x (len[1] + 2) */
    double *sine;          /* sin(pi x) at the n points of one axis */
    double *field;         /* rank 0: all blocks in rank order */
    int *counts, *offsets; /* rank 0: points per block, and where a block starts */
};

static int block_low(int n, int parts, int part)
{
    return (int)((long)n * part / parts);
}

static int block_len(int n, int parts, int part)
{
    return block_low(n, parts, part + 1) - block_low(n, parts, part);
}

static size_t at(const struct grid *g, int row, int col)
{
    return (size_t)row * (size_t)(g->len[1] + 2) + (size_t)col;
}

static void *allocate(size_t count, size_t bytes)
{
    void *p = calloc(count > 0 ? count : 1, bytes);

    if (p == NULL) {
        fprintf(stderr, "heat: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

static int read_number(const char *text, int low, int high, int *out)
{
    char *end;
    long value = strtol(text, &end, 10);

    if (end == text || *end != '\0' || value < low || value > high)
        return -1;
    *out = (int)value;
    return 0;
}

/* Collective. Rank 0 reads the command line for all; n = 0 when it makes no sense. */
static struct params read_params(int argc, char **argv, int rank, int size)
{
    struct params p = {POINTS, STEPS};

    if (rank == 0) {
        int rc = 0;
        if (argc > 1)
            rc |= read_number(argv[1], size, POINTS_MAX, &p.n);
        if (argc > 2)
            rc |= read_number(argv[2], 1, STEPS_MAX, &p.steps);
        if (rc != 0 || argc > 3) {
            fprintf(stderr, "usage: heat [points per side, %d to %d [steps, 1 to %d]]\n", size,
                    POINTS_MAX, STEPS_MAX);
            p.n = 0;
        }
    }
    MPI_Bcast(&p.n, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Bcast(&p.steps, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return p;
}

/* What one step takes away from every value, as a fraction of it. */
static double loss(int n)
{
    double s = sin(acos(-1.0) / 2.0 / (n + 1));

    return 8.0 * diffusion * s * s;
}

/* What is left of every value of the start. */
static double decay(int n, int steps)
{
    return exp(steps * log1p(-loss(n)));
}

/* Rounding of one unit per step may add up in a very long run. */
static double tolerance(int steps)
{
    return fmax(1e-12, steps * DBL_EPSILON);
}

static void grid_types(struct grid *g)
{
    int whole[2] = {g->len[0] + 2, g->len[1] + 2};
    int start[2] = {1, 1};

    MPI_Type_vector(g->len[0], 1, g->len[1] + 2, MPI_DOUBLE, &g->column);
    MPI_Type_commit(&g->column);
    MPI_Type_create_subarray(2, whole, g->len, start, MPI_ORDER_C, MPI_DOUBLE, &g->inner);
    MPI_Type_commit(&g->inner);
}

/* Rank 0 learns where the gathered blocks lie. */
static void grid_blocks(struct grid *g)
{
    int next = 0;

    if (g->rank != 0)
        return;
    g->counts = allocate((size_t)g->size, sizeof *g->counts);
    g->offsets = allocate((size_t)g->size, sizeof *g->offsets);
    g->field = allocate((size_t)g->n * (size_t)g->n, sizeof *g->field);
    for (int r = 0; r < g->size; r++) {
        int c[2];
        MPI_Cart_coords(g->comm, r, 2, c);
        g->counts[r] = block_len(g->n, g->dims[0], c[0]) * block_len(g->n, g->dims[1], c[1]);
        g->offsets[r] = next;
        next += g->counts[r];
    }
}

/* Collective. */
static void grid_init(struct grid *g, int n, int size)
{
    int periods[2] = {0, 0};
    int coords[2], low[2];
    size_t points;

    *g = (struct grid){.n = n, .size = size};
    MPI_Dims_create(size, 2, g->dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, g->dims, periods, 1, &g->comm);
    MPI_Comm_set_name(g->comm, "heat grid");
    MPI_Comm_rank(g->comm, &g->rank);
    MPI_Cart_coords(g->comm, g->rank, 2, coords);
    MPI_Cart_shift(g->comm, 0, 1, &g->nbr[NORTH], &g->nbr[SOUTH]);
    MPI_Cart_shift(g->comm, 1, 1, &g->nbr[WEST], &g->nbr[EAST]);
    for (int d = 0; d < 2; d++) {
        low[d] = block_low(n, g->dims[d], coords[d]);
        g->len[d] = block_len(n, g->dims[d], coords[d]);
    }
    grid_types(g);
    grid_blocks(g);

    points = at(g, g->len[0] + 2, 0);
    g->u = allocate(points, sizeof *g->u);
    g->old = allocate(points, sizeof *g->old);
    g->sine = allocate((size_t)n, sizeof *g->sine);
    for (int i = 0; i < n; i++)
        g->sine[i] = sin(acos(-1.0) * (i + 1) / (n + 1));
    for (int i = 1; i <= g->len[0]; i++)
        for (int j = 1; j <= g->len[1]; j++)
            g->u[at(g, i, j)] = g->sine[low[0] + i - 1] * g->sine[low[1] + j - 1];
}

/* Collective. */
static void grid_free(struct grid *g)
{
    free(g->u);
    free(g->old);
    free(g->sine);
    free(g->field);
    free(g->counts);
    free(g->offsets);
    MPI_Type_free(&g->column);
    MPI_Type_free(&g->inner);
    MPI_Comm_free(&g->comm);
}

/* Collective. Rows are contiguous and go first; columns overlap each other. */
static void exchange_halo(struct grid *g)
{
    int rows = g->len[0], cols = g->len[1];
    double *u = g->u;
    MPI_Request req[4];
    MPI_Status done[4];

    SCOPE_BEGIN("halo");
    MPI_Sendrecv(&u[at(g, 1, 1)], cols, MPI_DOUBLE, g->nbr[NORTH], NORTH, &u[at(g, rows + 1, 1)],
                 cols, MPI_DOUBLE, g->nbr[SOUTH], NORTH, g->comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&u[at(g, rows, 1)], cols, MPI_DOUBLE, g->nbr[SOUTH], SOUTH, &u[at(g, 0, 1)], cols,
                 MPI_DOUBLE, g->nbr[NORTH], SOUTH, g->comm, MPI_STATUS_IGNORE);
    MPI_Irecv(&u[at(g, 1, 0)], 1, g->column, g->nbr[WEST], EAST, g->comm, &req[0]);
    MPI_Irecv(&u[at(g, 1, cols + 1)], 1, g->column, g->nbr[EAST], WEST, g->comm, &req[1]);
    MPI_Isend(&u[at(g, 1, 1)], 1, g->column, g->nbr[WEST], WEST, g->comm, &req[2]);
    MPI_Isend(&u[at(g, 1, cols)], 1, g->column, g->nbr[EAST], EAST, g->comm, &req[3]);
    MPI_Waitall(4, req, done);
    SCOPE_END("halo");
}

static void apply_stencil(struct grid *g)
{
    size_t width = at(g, 1, 0);
    double *swap = g->old;

    SCOPE_BEGIN("stencil");
    for (int i = 1; i <= g->len[0]; i++) {
        const double *mid = g->u + at(g, i, 0);
        const double *up = mid - width, *down = mid + width;
        double *next = g->old + at(g, i, 0);
        for (int j = 1; j <= g->len[1]; j++) {
            double around = (up[j] + down[j]) + (mid[j - 1] + mid[j + 1]);
            next[j] = mid[j] + diffusion * (around - 4.0 * mid[j]);
        }
    }
    g->old = g->u;
    g->u = swap;
    SCOPE_END("stencil");
}

/* Collective. Norm of the last change, where the norm of the start is 1. */
static double residual(const struct grid *g)
{
    double local = 0.0, total = 0.0;

    SCOPE_BEGIN("residual");
    for (int i = 1; i <= g->len[0]; i++) {
        for (int j = 1; j <= g->len[1]; j++) {
            double change = g->u[at(g, i, j)] - g->old[at(g, i, j)];
            local += change * change;
        }
    }
    MPI_Allreduce(&local, &total, 1, MPI_DOUBLE, MPI_SUM, g->comm);
    SCOPE_END("residual");
    return sqrt(total) * 2.0 / (g->n + 1);
}

/* Rank 0. The largest error of the gathered field, relative to the exact amplitude. */
static double field_error(const struct grid *g, double exact)
{
    const double *value = g->field;
    double worst = 0.0;

    for (int r = 0; r < g->size; r++) {
        int c[2], low[2], end[2];
        MPI_Cart_coords(g->comm, r, 2, c);
        for (int d = 0; d < 2; d++) {
            low[d] = block_low(g->n, g->dims[d], c[d]);
            end[d] = block_low(g->n, g->dims[d], c[d] + 1);
        }
        for (int i = low[0]; i < end[0]; i++)
            for (int j = low[1]; j < end[1]; j++)
                worst = fmax(worst, fabs(*value++ - exact * g->sine[i] * g->sine[j]));
    }
    return worst / fmax(exact, vanished);
}

/* Collective. Gathers the field on rank 0; the number of wrong results found there. */
static int checkpoint(const struct grid *g, int step, double change)
{
    double exact = decay(g->n, step), expected = decay(g->n, step - 1) * loss(g->n);
    int wrong = 0;

    SCOPE_BEGIN("checkpoint");
    MPI_Gatherv(g->u, 1, g->inner, g->field, g->counts, g->offsets, MPI_DOUBLE, 0, g->comm);
    if (g->rank == 0) {
        double error = field_error(g, exact);
        printf("step %d: residual %.7E, amplitude %.12f\n", step, change, exact);
        if (!(error <= tolerance(step))) {
            printf("wrong: the field is off by %.1E of its amplitude\n", error);
            wrong++;
        }
        if (!(fabs(change - expected) <= 1e-8 * fmax(expected, vanished))) {
            printf("wrong: the residual should be %.7E\n", expected);
            wrong++;
        }
    }
    SCOPE_END("checkpoint");
    return wrong;
}

/* Collective. The number of wrong results, the same on all ranks. */
static int solve(struct grid *g, int steps)
{
    int every = steps > CHECKPOINTS ? steps / CHECKPOINTS : 1;
    int wrong = 0;
    double change = 0.0;

    for (int step = 1; step <= steps; step++) {
        int save = step % every == 0 || step == steps;
        SCOPE_BEGIN("step");
        exchange_halo(g);
        apply_stencil(g);
        if (step % RESIDUAL_EVERY == 0 || save)
            change = residual(g);
        SCOPE_END("step");
        if (save)
            wrong += checkpoint(g, step, change);
    }
    MPI_Bcast(&wrong, 1, MPI_INT, 0, g->comm);
    return wrong;
}

int main(int argc, char **argv)
{
    struct params p;
    struct grid g;
    int rank, size, wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    p = read_params(argc, argv, rank, size);
    if (p.n == 0) {
        MPI_Finalize();
        return 2;
    }

    SCOPE_BEGIN("init");
    grid_init(&g, p.n, size);
    SCOPE_END("init");
    if (g.rank == 0)
        printf("heat: %d x %d points, %d steps, %d x %d ranks\n", p.n, p.n, p.steps, g.dims[0],
               g.dims[1]);
    wrong = solve(&g, p.steps);
    if (g.rank == 0)
        printf("heat: %s\n", wrong == 0 ? "right" : "WRONG");
    grid_free(&g);
    MPI_Finalize();
    return wrong == 0 ? 0 : 1;
}
