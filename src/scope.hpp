/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * libscope for C++11 and later: scope.h plus a region that lasts as long as an object.
 *
 *     void solve()
 *     {
 *         SCOPE_FUNCTION();                  // region "solve", until the function is left
 *         scope::Scope setup("setup");       // region "setup"
 *         ...
 *         setup.end();                       // here, or where the block ends
 *         SCOPE_SCOPE("sweep");              // region "sweep", name looked up once
 *     }
 *
 * The region is closed however the block is left, exceptions included. -DSCOPE_DISABLE compiles
 * all of it away.
 */
#ifndef SCOPE_HPP
#define SCOPE_HPP

#include <string>

#include "scope.h"

namespace scope
{
/* With SCOPE_DISABLE it is another type, so that files of both kinds may meet in one program. */
#ifdef SCOPE_DISABLE
inline namespace disabled
{
#endif

/*
 * One call of a region, from construction to end() or destruction, both on the same thread. Give
 * it a name (`scope::Scope("x");` alone ends at once). Looking up a name takes a lock; in hot code
 * use SCOPE_SCOPE or a handle from scope_region(). A moved-from or ended Scope does nothing.
 */
class Scope
{
  public:
    explicit Scope(int region) noexcept : region_(region) { scope_begin(region_); }
    explicit Scope(const char *name) noexcept : Scope(scope_region(name)) {}
    explicit Scope(const std::string &name) noexcept : Scope(name.c_str()) {}
    ~Scope() { end(); }

    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;
    Scope(Scope &&other) noexcept : region_(other.region_) { other.region_ = -1; }
    Scope &operator=(Scope &&other) noexcept
    {
        if (this != &other) {
            end();
            region_ = other.region_;
            other.region_ = -1;
        }
        return *this;
    }

    /* Ends the call early; once is enough, more do no harm. */
    void end() noexcept
    {
        if (region_ >= 0)
            scope_end(region_);
        region_ = -1;
    }

  private:
    int region_;
};

#ifdef SCOPE_DISABLE
} // namespace disabled
#endif
} // namespace scope

/* In place of the C macros, which need an extension for what a destructor does. */
#undef SCOPE_FUNCTION
#ifndef SCOPE_DISABLE
#undef SCOPE_SCOPE
#define SCOPE_SCOPE(name) ::scope::Scope SCOPE_JOIN_(scope_block_, __LINE__)(SCOPE_REGION(name))
#define SCOPE_FUNCTION() SCOPE_SCOPE(__func__)
#else
#define SCOPE_FUNCTION() ((void)0)
#endif

#endif
