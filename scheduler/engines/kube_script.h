/* SPDX-License-Identifier: Apache-2.0 */
/* kube_script.h - what a pod starts: the same text for every run and without a secret.
 *
 * The variables are script.h's, FALAJ_ADDRESS (the pod's, where members of a gang reach each other), and not FALAJ_TOKENS: the
 * join tokens are in a file of a Secret that is this run's alone, so they stand in no variable of a process and in no Job.
 * Pods of one Job are alike. Where the server numbers them (JOB_COMPLETION_INDEX) each begins with its own token, and else
 * anywhere: a token that another pod has used is refused, and the next is tried.
 * A pod that was made in the place of another one finds all used and ends, and the Job with it.
 * No "$$" and no "$(NAME)" of a variable may stand here: the kubelet would put something else in their place. */
#pragma once

#define KUBE_TOKENS "/run/falaj/token"

static const char kube_script[] =
    "# A falaj-worker for one lease, started for the control plane that this namespace belongs to.\n"
    "umask 077\n"
    "folder=$(mktemp -d \"$FALAJ_FOLDER/falaj-XXXXXXXXXX\") || exit 1\n"
    "trap 'rm -rf \"$folder\"' EXIT\n"
    "trap 'is_over=1; [ -z \"$worker\" ] || kill -TERM $worker' TERM INT\n"
    "tokens=($(cat " KUBE_TOKENS "/tokens)) names=($FALAJ_NAMES)\n"
    "mkdir \"$folder/work\"\n"
    "first=${JOB_COMPLETION_INDEX:-$RANDOM} status=1\n"
    "for ((i = 0; i < ${#names[@]}; i++)); do\n"
    "  part=$(((first + i) % ${#names[@]}))\n"
    "  [ -z \"$is_over\" ] || exit 1\n"
    "  printf %s \"${tokens[part]}\" >\"$folder/token\"\n"
    "  \"$FALAJ_WORKER\" --config \"$FALAJ_CONFIG\" --worker.name=\"${names[part]}\" --worker.zone=\"$FALAJ_ZONE\" \\\n"
    "    --worker.pool=\"$FALAJ_POOL\" --worker.cert=\"$folder/cert.pem\" --worker.key=\"$folder/key.pem\" \\\n"
    "    --worker.join_token_file=\"$folder/token\" --worker.work_dir=\"$folder/work\" --worker.slots=\"$FALAJ_SLOTS\" \\\n"
    "    --worker.gpus=\"$FALAJ_GPUS\" --worker.memory=\"$FALAJ_MEMORY\" --worker.leases_max=1 \\\n"
    "    --worker.idle_ms=\"$FALAJ_IDLE_MS\" --worker.ops_port=0 --worker.serve_bind=\"${FALAJ_ADDRESS:-127.0.0.1}\" &\n"
    "  worker=$!\n"
    "  while :; do\n"
    "    wait $worker\n"
    "    status=$?\n"
    "    kill -0 $worker 2>/dev/null || break\n"
    "  done\n"
    "  [ ! -e \"$folder/cert.pem\" ] || exit $status\n"
    "done\n"
    "exit $status\n";
