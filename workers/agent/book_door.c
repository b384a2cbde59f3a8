/* SPDX-License-Identifier: Apache-2.0 */
/* book_door.c - the socket by which a held lease's watcher lets people in (workers/lease/run_door.h). */
#include "workers/agent/book_int.h"

#include <fcntl.h>
#include "core/base/cleanup.h"

struct held *book_find(struct book *b, struct uuid attempt_id)
{
    struct held *found = NULL;
    pthread_mutex_lock(&b->lock);
    for (struct held *h = b->head.next; h != &b->head && !found; h = h->next)
        if (uuid_eq(h->grant->attempt_id, attempt_id) && !h->has_finished)
            found = h;
    if (found)
        atomic_fetch_add(&found->refs, 1);
    pthread_mutex_unlock(&b->lock);
    return found;
}

void held_set_door(struct held *h, int fd)
{
    pthread_mutex_lock(&h->book->lock);
    fd_closep(&h->door);
    h->door = fd;
    pthread_mutex_unlock(&h->book->lock);
}

int held_door(struct held *h)
{
    pthread_mutex_lock(&h->book->lock);
    const int fd = h->door >= 0 ? fcntl(h->door, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&h->book->lock);
    return fd;
}
