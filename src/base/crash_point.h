/*
 * crash_point.h - named places where a test kills the process to see what survives, and named
 * faults that a test switches on to see whether it finds them (docs/internals/simulator.md).
 * SAYSO_CRASH_POINT=name or name:N (the N-th time) and SAYSO_FAULT=name in builds with
 * -Dcrash_points=true; elsewhere the macros are empty and false. Names are listed by
 * `grep -rhoE '(CRASH_POINT|DELIBERATE_FAULT)\([a-z_]*\)' src`.
 */
#ifndef BASE_CRASH_POINT_H
#define BASE_CRASH_POINT_H
#include <stdbool.h>

#ifdef SAYSO_CRASH_POINTS
void crash_point(const char *name);
bool deliberate_fault(const char *name);
#define CRASH_POINT(name)      crash_point(#name)
#define DELIBERATE_FAULT(name) deliberate_fault(#name)
#else
#define CRASH_POINT(name)      ((void)0)
#define DELIBERATE_FAULT(name) false
#endif

#endif
