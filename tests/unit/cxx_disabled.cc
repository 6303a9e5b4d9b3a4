// SPDX-License-Identifier: BSD-3-Clause
//
// The part of cxx.cc that is compiled with SCOPE_DISABLE: the same use, and nothing may happen.
#define SCOPE_DISABLE
#include "scope.hpp"

#include <utility>

void compiled_away();

void compiled_away()
{
    SCOPE_FUNCTION();
    SCOPE_SCOPE("block");
    scope::Scope named("named"), other(std::string("other"));
    scope::Scope handle(SCOPE_REGION("handle"));

    other = std::move(named);
    other.end();
    SCOPE_BEGIN("hand");
    SCOPE_END("hand");
}
