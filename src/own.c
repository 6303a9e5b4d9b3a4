/* SPDX-License-Identifier: BSD-3-Clause */
#include "own.h"

#include <stdlib.h>

void sc_own_free(struct sc_own *own)
{
    sc_items_free(&own->comms);
    free(own->objects);
    free(own->modules);
    free(own->sites);
    *own = (struct sc_own){0};
}

void sc_maps_free(struct sc_maps *maps)
{
    free(maps->region);
    free(maps->path);
    free(maps->comm);
    free(maps->object);
    free(maps->site);
    *maps = (struct sc_maps){0};
}
