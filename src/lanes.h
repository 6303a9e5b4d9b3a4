/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * lanes: gives the lanes of an image (image.h) to the buffer, as those of a recording that has
 * stopped. What is torn, makes no sense or points nowhere is taken out first. One thread.
 */
#ifndef SC_LANES_H
#define SC_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "image.h"
#include "notes.h"

/* is_alive: what is read may change meanwhile. last: the tick at which the process noticed its end,
 * 0 none; becomes that of its last record if that is later. 0 or a status with the message. */
int sc_lanes_load(const char *path, bool is_alive, const struct sc_image_head *head,
                  const struct sc_notes *notes, uint64_t *last,
                  const struct sc_thread **main_thread);

#endif
