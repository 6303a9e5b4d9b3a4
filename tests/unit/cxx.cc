// SPDX-License-Identifier: BSD-3-Clause
//
// scope.hpp against a library of four functions that write down what they are asked: when is a
// region begun and ended, and how often is its name looked up?
#define SCOPE_NO_INLINE
#include "scope.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

static std::vector<std::string> names; // by handle
static std::string calls;              // "+a -a": a begun, a ended
static int lookups;
static int failures;

static void note(char sign, int region)
{
    if (!calls.empty())
        calls += ' ';
    calls += sign;
    calls += region < 0 ? "invalid" : names[static_cast<std::size_t>(region)];
}

extern "C" {
int scope_region(const char *name)
{
    lookups++;
    if (name == nullptr)
        return SCOPE_EINVAL;
    for (std::size_t i = 0; i < names.size(); i++)
        if (names[i] == name)
            return static_cast<int>(i);
    names.push_back(name);
    return static_cast<int>(names.size()) - 1;
}
int scope_region_at(const char *name, const char *, int)
{
    return scope_region(name);
}
void scope_begin(int region)
{
    note('+', region);
}
void scope_end(int region)
{
    note('-', region);
}
}

void compiled_away(); // cxx_disabled.cc

static void expect(const char *what, const std::string &expected)
{
    if (calls != expected) {
        std::printf("%s: expected \"%s\", got \"%s\"\n", what, expected.c_str(), calls.c_str());
        failures++;
    }
    calls.clear();
}

static void sweep()
{
    SCOPE_FUNCTION();
    SCOPE_SCOPE("inner");
    SCOPE_BEGIN("hand");
    SCOPE_END("hand");
}

static void fail()
{
    SCOPE_FUNCTION();
    scope::Scope inner("inner");
    throw std::runtime_error("left by an exception");
}

static scope::Scope make()
{
    scope::Scope made("made");
    return made;
}

static void test_blocks()
{
    {
        scope::Scope outer("outer");
        scope::Scope inner(std::string("in") + "ner");
    }
    expect("the last begun ends first", "+outer +inner -inner -outer");
    {
        scope::Scope handle(scope_region("outer"));
    }
    expect("a handle is as good as a name", "+outer -outer");
    {
        scope::Scope early("outer");
        early.end();
        early.end();
        expect("end() ends once", "+outer -outer");
    }
    expect("the destructor adds nothing to end()", "");
}

static void test_exception()
{
    try {
        fail();
    } catch (const std::runtime_error &) {
        expect("an exception ends what it leaves", "+fail +inner -inner -fail");
    }
    expect("and only once", "");
}

static void test_move()
{
    {
        scope::Scope first("a");
        scope::Scope second(std::move(first));
        expect("a move begins and ends nothing", "+a");
    }
    expect("the new owner ends it", "-a");
    {
        scope::Scope a("a"), b("b");
        b = std::move(a);
        expect("assignment ends what was there", "+a +b -b");
        scope::Scope &same = b;
        b = std::move(same);
        expect("assignment to itself changes nothing", "");
    }
    expect("and keeps what came", "-a");
    {
        scope::Scope kept = make();
        expect("a returned scope stays open", "+made");
    }
    expect("until its owner is gone", "-made");
    static_assert(!std::is_copy_constructible<scope::Scope>::value, "one owner");
    static_assert(!std::is_copy_assignable<scope::Scope>::value, "one owner");
    static_assert(std::is_nothrow_move_constructible<scope::Scope>::value, "fits containers");
}

static void test_macros()
{
    const std::string once = "+sweep +inner +hand -hand -inner -sweep";

    sweep();
    lookups = 0;
    sweep();
    expect("macros name function and block", once + " " + once);
    if (lookups != 0) {
        std::printf("a second pass looked up %d names\n", lookups);
        failures++;
    }
}

int main()
{
    test_blocks();
    test_exception();
    test_move();
    test_macros();
    {
        scope::Scope none(static_cast<const char *>(nullptr));
    }
    expect("an invalid region is never ended", "+invalid");
    lookups = 0;
    compiled_away();
    expect("SCOPE_DISABLE leaves no call", "");
    if (lookups != 0) {
        std::printf("SCOPE_DISABLE looked up %d names\n", lookups);
        failures++;
    }
    return failures == 0 ? 0 : 1;
}
