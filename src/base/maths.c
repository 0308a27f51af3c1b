/*
 * maths.c - the functions of libm that this program can call: the library is loaded by the first
 * call of one. SQLite names them all, for SQL that is not ours. A library that is loaded with the
 * program costs each start a tenth of its time and 300 KB.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef double function_of_one(double x);
typedef double function_of_two(double x, double y);

/* libc comes with it, so that it can't be missing. */
static void *find(const char *name)
{
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    void *found = library ? dlsym(library, name) : NULL;

    if (!found)
        abort();
    return found;
}

/* POSIX lets a function's address be kept in a void pointer, ISO C only so. Threads may find it at
 * the same time: they find the same. */
#define FOUND(type, name)                                                                          \
    static _Atomic(void *) found;                                                                  \
    void *address = atomic_load(&found);                                                           \
    type *function;                                                                                \
                                                                                                   \
    if (!address)                                                                                  \
        atomic_store(&found, address = find(#name));                                               \
    memcpy(&function, &address, sizeof function)
#define OF_ONE(name)                                                                               \
    double name(double x)                                                                          \
    {                                                                                              \
        FOUND(function_of_one, name);                                                              \
        return function(x);                                                                        \
    }
#define OF_TWO(name)                                                                               \
    double name(double x, double y)                                                                \
    {                                                                                              \
        FOUND(function_of_two, name);                                                              \
        return function(x, y);                                                                     \
    }

OF_ONE(acos)
OF_ONE(acosh)
OF_ONE(asin)
OF_ONE(asinh)
OF_ONE(atan)
OF_ONE(atanh)
OF_ONE(cos)
OF_ONE(cosh)
OF_ONE(exp)
OF_ONE(floor)
OF_ONE(log)
OF_ONE(log10)
OF_ONE(round)
OF_ONE(sin)
OF_ONE(sinh)
OF_ONE(sqrt)
OF_ONE(tan)
OF_ONE(tanh)
OF_ONE(trunc)
OF_TWO(atan2)
OF_TWO(fmod)
OF_TWO(pow)
