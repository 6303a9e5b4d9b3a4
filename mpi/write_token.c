/* SPDX-License-Identifier: BSD-3-Clause */
#include "write_token.h"

#include <mpi.h>

#include "base.h"
#include "h5file.h"
#include "h5write.h"
#include "world.h"

enum { TAG = 77 };

/* What this rank needs before its turn comes. */
static int prepare(const char *path, const struct sc_h5_table *tables, size_t count,
                   const struct sc_h5api **h5, struct sc_h5rows **rows)
{
    int rc = sc_h5_load_writer(h5);

    return rc != 0 ? rc : sc_h5rows_create(path, tables, count, rows);
}

/* The token is the status so far: the first rank's that failed, else 0. */
static int token_receive(void)
{
    int token = 0;

    if (sc_world_rank() > 0)
        PMPI_Recv(&token, 1, MPI_INT, sc_world_rank() - 1, TAG, sc_world_comm(), MPI_STATUS_IGNORE);
    return token;
}

static void token_send(int token)
{
    if (sc_world_rank() + 1 < sc_world_size())
        PMPI_Send(&token, 1, MPI_INT, sc_world_rank() + 1, TAG, sc_world_comm());
}

int sc_write_token(const char *path, const struct sc_h5_table *tables, size_t count)
{
    const struct sc_h5api *h5 = NULL;
    struct sc_h5rows *rows = NULL;
    int rc = prepare(path, tables, count, &h5, &rows);
    int token = token_receive();

    if (rc == 0 && token == 0)
        rc = sc_h5rows_put(rows, h5);
    token_send(token != 0 ? token : rc);
    sc_h5rows_free(rows);
    if (rc == 0 && token == 0)
        rc = sc_h5file_sync(path); /* while the next rank writes */
    return sc_agree(rc);
}
