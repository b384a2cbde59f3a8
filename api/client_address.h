/* SPDX-License-Identifier: Apache-2.0 */
/* client_address.h - whose address a call comes from when proxies stand before falaj-api (api.trusted_proxies).
 *
 * X-Forwarded-For is read from the right: each proxy adds the address that it saw, so what stands right of the first address
 * that is no trusted proxy was written by trusted ones, and what stands left of it by anybody. It is read only when the peer is
 * a trusted proxy.
 * Budgets by address, networks of tokens and conditions, lanes and the audit log go by the address found. Pure. */
#pragma once
#include "core/base/err.h"
#include "core/http/server.h"
#include "tenants/access/cidr.h"

enum { PROXIES_MAX = 32 };
struct proxies { struct cidr nets[PROXIES_MAX]; size_t n; };

/* "10.0.0.0/8,192.0.2.7"; INVALID names what is no network. Empty: nobody is believed. */
enum errc proxies_parse(struct str list, struct proxies *ret, struct err *e) MUST_CHECK;
bool proxies_has(const struct proxies *p, struct str address);
/* Of the request's memory. What is no address ends the reading: then it is the last address that a trusted proxy named. */
struct str client_address(const struct proxies *p, const struct http_request *r);
