/* SPDX-License-Identifier: Apache-2.0 */
/* emu_card.c - the cards of the processor's form, which of them a thread is on, and the lock by which threads take turns.
 *
 * Calls of several threads come one after the other; an operation, from what it says first to its end, and a sequence that is
 * captured are not cut by another thread's. */
#include "tests/cuda/emu_int.h"

#include <pthread.h>

static struct { int number; } cards[EMU_CARDS];
static int card_count = 1;
static _Thread_local int card_now;

static pthread_mutex_t lock;
static pthread_once_t lock_once = PTHREAD_ONCE_INIT;
static _Thread_local int held;          /* by operations and sequences of this thread */

void emu_set_cards(int n)
{
    ASSERT(n >= 1 && n <= EMU_CARDS);
    card_count = n;
}

int emu_cards(void)
{
    return card_count;
}

int emu_card(void)
{
    return card_now;
}

bool emu_is_card(int card)
{
    return card >= 0 && card < card_count;
}

void *emu_context(int card)
{
    return emu_is_card(card) ? &cards[card] : NULL;
}

bool emu_context_use(const void *context)
{
    for (int i = 0; i < card_count; i++)
        if (context == &cards[i]) {
            card_now = i;
            return true;
        }
    return false;
}

static void lock_new(void)
{
    pthread_mutexattr_t a;
    pthread_mutexattr_init(&a);
    pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&lock, &a);
    pthread_mutexattr_destroy(&a);
}

int emu_lock(void)
{
    pthread_once(&lock_once, lock_new);
    return pthread_mutex_lock(&lock);
}

void emu_unlock(const int *locked)
{
    (void)locked;
    pthread_mutex_unlock(&lock);
}

void emu_hold(void)
{
    (void)emu_lock();
    held++;
}

void emu_let_go(void)
{
    if (!held)
        return;
    held--;
    pthread_mutex_unlock(&lock);
}
