/*
 * late_alarm.c - preloaded by test_gate_crash.py: where an alarm may still come when a reply has
 * been written, it comes right then.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

ssize_t write(int fd, const void *bytes, size_t length)
{
    ssize_t written = syscall(SYS_write, fd, bytes, length);
    struct itimerval left;

    if (fd == STDOUT_FILENO && getitimer(ITIMER_REAL, &left) == 0 &&
        (left.it_value.tv_sec || left.it_value.tv_usec))
        raise(SIGALRM);
    return written;
}
