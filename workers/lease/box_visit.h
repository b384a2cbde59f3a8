/* SPDX-License-Identifier: Apache-2.0 */
/* box_visit.h - which descriptors the helper of box_enter.h inherits. */
#pragma once

enum { VISIT_SOCKET = 3, VISIT_FIRST, VISIT_FILTER, VISIT_WORDS, VISIT_FDS };
