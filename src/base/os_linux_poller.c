/* os_linux_poller.c - many descriptors watched through one; see os.h. */
#include <errno.h>
#include <sys/epoll.h>

#include "base/mem.h"
#include "base/os.h"

static const struct {
    unsigned event;
    uint32_t bit;
} bits[] = {
    { OS_READABLE, EPOLLIN },
    { OS_WRITABLE, EPOLLOUT },
    { OS_HUNG_UP, EPOLLRDHUP },
};

int os_poller_open(void)
{
    return epoll_create1(EPOLL_CLOEXEC);
}

bool os_poller_watch(int poller, int fd, unsigned before, unsigned events, void *thing)
{
    struct epoll_event wanted = { .data.ptr = thing };
    int act = !events ? EPOLL_CTL_DEL : !before ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;

    if (events == before)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
        if (events & bits[i].event)
            wanted.events |= bits[i].bit;
    }
    return epoll_ctl(poller, act, fd, &wanted) == 0;
}

/* A descriptor that has come to its end on both sides, and says nothing else, is ready for
 * everything: whoever tries learns what happened. */
static unsigned events_of(uint32_t found)
{
    unsigned events = found & EPOLLERR ? OS_BROKEN : 0;

    for (size_t i = 0; i < ARRAY_LEN(bits); i++) {
        if (found & bits[i].bit)
            events |= bits[i].event;
    }
    return events ? events : OS_READABLE | OS_WRITABLE | OS_HUNG_UP;
}

int os_poller_take(int poller, struct os_ready *ready, int most)
{
    struct epoll_event found[OS_POLLER_MOST];
    int count = epoll_wait(poller, found, most < OS_POLLER_MOST ? most : OS_POLLER_MOST, 0);

    for (int i = 0; i < count; i++)
        ready[i] = (struct os_ready){ found[i].data.ptr, events_of(found[i].events) };
    return count < 0 ? 0 : count;
}
