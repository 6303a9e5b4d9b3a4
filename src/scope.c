/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The public C functions: arguments are checked, then handed on.
 */
#define SCOPE_NO_INLINE
#include "scope.h"

#include "base.h"
#include "region.h"
#include "runtime.h"

#define CHECK_STATUS(name, value, text) _Static_assert(SCOPE_##name == (value), "scope.h");
SC_STATUS(CHECK_STATUS)

int scope_setup(const scope_options *options)
{
    return sc_runtime_setup(options);
}

int scope_finalize(void)
{
    return sc_runtime_finalize();
}

void scope_pause(void)
{
    sc_runtime_pause(true);
}

void scope_resume(void)
{
    sc_runtime_pause(false);
}

int scope_is_active(void)
{
    return sc_runtime_is_on() && !sc_runtime_is_paused();
}

const char *scope_strerror(int code)
{
    return sc_status_text(code);
}

const char *scope_last_error(void)
{
    return sc_last_error();
}

int scope_region(const char *name)
{
    return sc_region_id(SC_REGION_USER, name, NULL, NULL, -1);
}

int scope_region_at(const char *name, const char *file, int line)
{
    return sc_region_id(SC_REGION_USER, name, NULL, file, line);
}

void scope_begin(int region)
{
    scope_begin_inline_(region);
}

void scope_end(int region)
{
    scope_end_inline_(region);
}
