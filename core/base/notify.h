/* SPDX-License-Identifier: Apache-2.0 */
/* notify.h - tells the service manager how a daemon is: systemd's protocol of sd_notify(3), one datagram of NAME=VALUE lines to
 * the socket that NOTIFY_SOCKET names (a path, or @name of the abstract namespace).
 *
 * Without that variable every call does nothing; nothing that is told can fail the daemon. Any thread may call.
 * Calling order: notify_ready once the daemon serves -> notify_alive again and again from the loop whose standstill should end it
 * -> notify_stopping. */
#pragma once

void notify_ready(const char *status);
/* What `systemctl status` shows. */
void notify_status(const char *status);
void notify_stopping(void);
/* For the watchdog (WATCHDOG_USEC): sends at most one datagram in a quarter of its time, so a loop may call it in every turn. */
void notify_alive(void);
/* How often a loop that waits must turn for the watchdog, in milliseconds; -1: there is none. */
int notify_alive_ms(void);
