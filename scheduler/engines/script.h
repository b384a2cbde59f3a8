/* SPDX-License-Identifier: Apache-2.0 */
/* script.h - what an engine starts: the same text for every run and without a secret, which come by the environment.
 *
 * FALAJ_TOKENS, FALAJ_NAMES: a join token and a machine's name for each part, between blanks, in the order of SLURM_PROCID.
 * FALAJ_MACHINES, FALAJ_WORKER, FALAJ_CONFIG, FALAJ_FOLDER, FALAJ_ZONE, FALAJ_POOL, FALAJ_SLOTS, FALAJ_GPUS, FALAJ_MEMORY,
 * FALAJ_IDLE_MS: as worker(8) has them. A part that an engine starts again ends at once: its token is used. The folder goes when
 * the worker has ended.
 * Who sees a token: the script takes it out of its variables and gives it to the worker in a file of mode 0600, so nothing that
 * it starts later inherits it. The block of environment that the kernel keeps for the script (/proc/PID/environ), for srun and
 * for Slurm's step daemon shows it to root and to the account as long as they run, that is the whole lease, and each part of a
 * gang has all parts' tokens. What protects it is that it is good once: when the worker has enrolled it opens nothing any more,
 * and before that whoever reads it can be that one machine. */
#pragma once

static const char engine_script[] =
    "#!/bin/bash\n"
    "# A falaj-worker for one lease, started for the control plane that this account belongs to.\n"
    "[ \"${SLURM_RESTART_COUNT:-0}\" = 0 ] || exit 0\n"
    "if [ -z \"$FALAJ_PART\" ] && [ \"$FALAJ_MACHINES\" -gt 1 ]; then\n"
    "  FALAJ_PART=1 exec srun --ntasks=\"$FALAJ_MACHINES\" --ntasks-per-node=1 --kill-on-bad-exit=0 bash -c \"$(cat \"$0\")\"\n"
    "fi\n"
    "umask 077\n"
    "folder=$(mktemp -d \"$FALAJ_FOLDER/falaj-XXXXXXXXXX\") || exit 1\n"
    "trap 'rm -rf \"$folder\"' EXIT\n"
    "part=0\n"
    "[ -z \"$FALAJ_PART\" ] || part=${SLURM_PROCID:-0}\n"
    "tokens=($FALAJ_TOKENS) names=($FALAJ_NAMES)\n"
    "printf %s \"${tokens[part]}\" >\"$folder/token\"\n"
    "unset FALAJ_TOKENS tokens\n"
    "mkdir \"$folder/work\"\n"
    "\"$FALAJ_WORKER\" --config \"$FALAJ_CONFIG\" --worker.name=\"${names[part]}\" --worker.zone=\"$FALAJ_ZONE\" \\\n"
    "  --worker.pool=\"$FALAJ_POOL\" --worker.cert=\"$folder/cert.pem\" --worker.key=\"$folder/key.pem\" \\\n"
    "  --worker.join_token_file=\"$folder/token\" --worker.work_dir=\"$folder/work\" --worker.slots=\"$FALAJ_SLOTS\" \\\n"
    "  --worker.gpus=\"$FALAJ_GPUS\" --worker.memory=\"$FALAJ_MEMORY\" --worker.leases_max=1 \\\n"
    "  --worker.idle_ms=\"$FALAJ_IDLE_MS\" --worker.ops_port=0 &\n"
    "worker=$!\n"
    "trap 'kill -TERM $worker' TERM INT\n"
    "while :; do\n"
    "  wait $worker\n"
    "  status=$?\n"
    "  kill -0 $worker 2>/dev/null || exit $status\n"
    "done\n";
