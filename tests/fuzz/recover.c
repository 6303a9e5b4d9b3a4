/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Profiles that are made of damaged images: one that is written can be read, all of it.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "everything.h"
#include "images.h"
#include "recover.h"

const char fuzz_name[] = "recover";
const unsigned fuzz_rounds = 30;
const int fuzz_past_end = -1;

static const char profile[] = "recovered.h5";

enum { RANKS_MOST = 1 << 14 }; /* more of them take long to write and to read */

static int refused(void)
{
    if (sc_last_error()[0] == '\0' || strchr(sc_last_error(), '\n') != NULL)
        fuzz_broken("not one line: '%s'", sc_last_error());
    return 1;
}

static bool is_large(const struct sc_salvage *s)
{
    const struct sc_salvage_run *run = sc_salvage_run(s);
    bool large = run->size > RANKS_MOST;
    const char *host;

    for (size_t i = 0; i < run->images; i++)
        large = large || sc_salvage_rank(s, i, &host) >= RANKS_MOST;
    return large;
}

int fuzz_one(const unsigned char *data, size_t size)
{
    struct sc_string summary = {0}, notes = {0};
    struct sc_salvage *s;
    int rc;

    mkdir("images", 0777);
    unlink(profile);
    if (sc_salvage_open(images_unpack(data, size, "images") > 1 ? "images" : "images/0.image",
                        &s) != 0)
        return refused();
    if (is_large(s)) {
        sc_salvage_close(s);
        return 1;
    }
    rc = sc_recover(s, profile, &summary, &notes);
    if (rc == 0 && everything_read(profile) != 0)
        fuzz_broken("was written, but: %s", sc_last_error());
    if (rc == 0 && summary.length == 0)
        fuzz_broken("no summary");
    sc_string_free(&summary);
    sc_string_free(&notes);
    sc_salvage_close(s);
    return rc == 0 ? 0 : refused();
}

void fuzz_seeds(fuzz_take *take)
{
    images_seeds(take);
}

void fuzz_past(fuzz_take *take)
{
    images_past(take);
}

size_t fuzz_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r)
{
    return images_mutate(data, size, most, r);
}
