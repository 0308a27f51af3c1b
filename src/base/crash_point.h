/*
 * crash_point.h - named places where a test kills the process to see what survives.
 * SAYSO_CRASH_POINT=name or name:N (the N-th time) in builds with -Dcrash_points=true; elsewhere
 * the macro is empty. Names are listed by `grep -rho 'CRASH_POINT([a-z_]*)' src`.
 */
#ifndef BASE_CRASH_POINT_H
#define BASE_CRASH_POINT_H

#ifdef SAYSO_CRASH_POINTS
void crash_point(const char *name);
#define CRASH_POINT(name) crash_point(#name)
#else
#define CRASH_POINT(name) ((void)0)
#endif

#endif
