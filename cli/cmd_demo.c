/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
int cmd_demo(struct cli *c) { return cli_fail(c, 1, NULL, "x"); }
int cmd_doctor(struct cli *c) { return cli_fail(c, 1, NULL, "x"); }
