#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpu.sh - what training does on this machine's card, within nine minutes by its own clock: one JSON line per figure (card,
# driver, versions, commit in each), a short table last.
#
#   tests/bench/training/gpu.sh                    builds here (gcc, bash, and clang or nvcc; nothing else), then measures
#   tests/bench/training/gpu.sh --pack FILE        only builds, into FILE, for another machine; needs no card. --build: for none
#   tests/bench/training/gpu.sh --with FILE        measures with what --pack made elsewhere, and compiles nothing
#   tests/bench/training/gpu.sh --emulated BIN     all stages at toy size over the form that runs on the processor; keeps nothing
#   … --only NAME,NAME…                            these stages alone, in this order; --list names them
#
# Stages (gpu.sh --list) stand by worth, so that what is cut is the end; gates are check, grads, curve. A stage that fails is a
# line with its reason, and the next one runs.
# FALAJ_GPU_SECONDS: less than 540. FALAJ_GPU_COMMIT: where there is no git. Lines go to figures.jsonl beside this script, or
# into the folder $OUT, with every stage's words on standard error. Exit status: 0 all ran, 1 one failed, 3 no card.
set -uo pipefail
cd "$(dirname "$0")/../../.." || exit 2
here=tests/bench/training
# shellcheck source=tests/bench/training/gpu_build.sh
. $here/gpu_build.sh
began=$SECONDS
most=${FALAJ_GPU_SECONDS:-540}
emulated='' pack='' bin='' failed=0 only='' versions='' has_torch='' on='"card": "none"'
export TZ=UTC0
all=(check copy products attention gpt hopper torch gpt350 grads curve mlp cnn torch_small energy tune data fp32
    nccl memcheck racecheck ncu)
while (($#)); do
    case $1 in
    --emulated) emulated=1 bin=${2:?--emulated needs the program} && shift ;;
    --build) pack=/dev/null ;;
    --pack) pack=${2:?--pack needs a file} && shift ;;
    --with) bin=${2:?--with needs the file that --pack made} && shift ;;
    --only) only=${2:?--only needs names of stages} && shift ;;
    --list) printf '%s\n' "${all[@]}" && exit 0 ;;
    *) sed -n '3,17s/^# \{0,1\}//p' "$0" && exit 2 ;;
    esac
    shift
done
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=${OUT:-$work}
lines=$out/figures.jsonl
: >"$lines"

left() { echo $((most - (SECONDS - began))); }
text() { tr -d '"\\\n' <<<"$1" | cut -c1-200; }

fails() { keep "{\"stage\": \"$1\", \"failed\": \"$(text "$2")\"}"; }

# keep LINE: with what it was measured on.
keep() {
    local line=$1
    [[ $line == '{'*'}' ]] || line="{\"stage\": \"unknown\", \"failed\": \"$(text "$line")\"}"
    [[ $line != *'"failed"'* && $line != *'"ok": false'* ]] || failed=1
    printf '%s, "at": "%(%FT%TZ)T", %s}\n' "${line%\}}" -1 "$on" | tee -a "$lines"
}

# run LIMIT STAGE COMMAND…: lines of figures, if there is time for them; its status.
run() {
    local limit=$1 name=$2 rest rc n=0 line
    shift 2
    rest=$(left)
    if ((rest < 6)); then
        fails "$name" 'no time was left'
        return 1
    fi
    ((limit < rest - 3)) || limit=$((rest - 3))
    : >"$work/err"
    while IFS= read -r line; do
        [[ $line != rc=* ]] || { rc=${line#rc=} && continue; }
        keep "$line"
        n=$((n + 1))
    done < <(timeout -k 3 "$limit" "$@" 2>"$work/err"; echo "rc=$?")
    { echo "== $name: $*"; head -c 60000 "$work/err"; } >>"$out/stderr.txt"
    if ((rc && n == 0)) || ((rc == 124 || rc > 128)); then
        fails "$name" "status $rc after at most $limit s: $(grep -v '^$' "$work/err" | tail -1)"
    fi
    return "$rc"
}

# bench LIMIT STAGE SECONDS NUMBER…; a step that fails is taken once more, operation by operation, to say which one it was.
bench() {
    local rc found
    run "$1" "$2" "$bin" "${@:2}" && return
    rc=$?
    if [[ $2 =~ ^(gpt|cnn|mlp|grads)$ ]] && (($(left) > 20)); then
        found=$(FALAJ_GPU_FIND=1 FALAJ_GPU_EACH=1 timeout 15 "$bin" "$2" 0.01 "${@:4}" 2>&1 | grep '"find"')
        [[ -z $found ]] || keep "$found"
    fi
    return $rc
}

# The number for a card, or for a toy.
size() { [[ -n $emulated ]] && echo "$2" || echo "$1"; }

stage_check() {
    local from=0 tries=0 rc
    while ((tries++ < 6)); do
        bench 60 check 0 "$from" && return
        rc=$?
        ((rc == 4)) || return "$rc"
        from=$(sed -nE 's/.*"next": ([0-9]+).*/\1/p' "$lines" | tail -1)       # what broke the card's context is left out
    done
}
stage_copy() { bench 30 copy "$(size 0.7 0.01)" "$(size 2048 1)"; }
stage_hopper() {             # attention, a step and the own products once more, by the form of one generation of cards
    if [[ -n $emulated ]]; then
        return
    fi
    FALAJ_GPU_HOPPER=1 FALAJ_GPU_BF16=1 bench 30 attention 0.5 32 1024 12 64
    FALAJ_GPU_HOPPER=1 FALAJ_GPU_PROFILE=1 FALAJ_GPU_BF16=1 bench 60 gpt 1 12 768 12 1024 32
    FALAJ_GPU_HOPPER=1 FALAJ_GPU_WITHOUT=library FALAJ_GPU_BF16=1 bench 60 products 0.15 32768 768 50304
}
stage_products() {
    if [[ -n $emulated ]]; then
        bench 60 product 0.01 65 40 33
        FALAJ_GPU_BF16=1 bench 60 products 0.01 33 8 20
    else
        FALAJ_GPU_BF16=1 bench 60 products 0.15 32768 768 50304
    fi
}
stage_attention() {
    # shellcheck disable=SC2046
    FALAJ_GPU_BF16=1 bench 40 attention "$(size 0.5 0.01)" $(size '32 1024 12 64' '1 9 2 4')
    [[ -n $emulated ]] || FALAJ_GPU_BF16=1 bench 40 attention 0.3 8 1024 16 64
}
stage_gpt() {
    # shellcheck disable=SC2046
    FALAJ_GPU_PROFILE=1 FALAJ_GPU_BF16=1 bench 60 gpt "$(size 2 0.01)" $(size '12 768 12 1024 32' '1 16 2 9 2')
    [[ -n $emulated ]] || FALAJ_GPU_BF16=1 bench 60 gpt 1 12 768 12 1024 8
    [[ -n $emulated ]] || FALAJ_GPU_BF16=1 bench 60 gpt 1 12 768 12 1024 64
    [[ -n $emulated ]] || FALAJ_GPU_BF16=1 bench 60 gpt 1 12 768 12 1024 128
}
stage_gpt350() { [[ -n $emulated ]] || FALAJ_GPU_PROFILE=1 FALAJ_GPU_BF16=1 bench 60 gpt 1.5 24 1024 16 1024 32; }
stage_mlp() {
    # shellcheck disable=SC2046
    for half in 1 ''; do FALAJ_GPU_BF16=$half bench 30 mlp "$(size 0.7 0.01)" $(size '784 1024 1024' '9 17 8'); done
}
stage_nccl() {
    # NCCL of the system, or the one that comes with PyTorch.
    local beside
    beside=$(python3 -c 'import nvidia.nccl as n; print(list(n.__path__)[0] + "/lib")' 2>/dev/null)
    LD_LIBRARY_PATH=${LD_LIBRARY_PATH:-}${beside:+:$beside} bench 40 nccl "$(size 0.3 0.01)" "$(size 474 1)"    # 124M gradients
}
stage_cnn() {
    # shellcheck disable=SC2046
    FALAJ_GPU_PROFILE=$(size 1 '') FALAJ_GPU_BF16=1 bench 40 cnn "$(size 1.5 0.01)" $(size '32 64 128' '6 4 1')
}
# learn STAGE GATES LIMIT NUMBERS…: by us, then by PyTorch from the same files, and whether both come to the same.
learn() {
    local stage=$1 gates=$2 limit=$3
    shift 3
    rm -rf "$work/learnt" && mkdir "$work/learnt"
    FALAJ_GPU_FOLDER=$work/learnt bench "$limit" "$stage" 1 "$@" || return
    [[ -n $emulated || -z $has_torch ]] || run "$limit" "$stage" python3 $here/gpu_gates.py "$gates" "$work/learnt" "${@:1:5}"
}
# shellcheck disable=SC2046
stage_grads() { learn grads grads,file 60 $(size '12 768 12 1024 1' '1 16 2 9 2'); }
stage_curve() {
    # shellcheck disable=SC2046
    learn curve curve 60 $(size '6 384 6 256 16 200' '1 16 2 9 1 4')
    [[ -n $emulated ]] || learn curve curve 60 12 768 12 256 4 200
}
stage_energy() { [[ -n $emulated ]] || FALAJ_GPU_BF16=1 bench 40 energy 11 12 768 12 1024 32; }
# shellcheck disable=SC2046
stage_tune() { bench 60 tune 1 $(size '6 384 6 256 8 8' '1 16 2 9 1 1'); }
# shellcheck disable=SC2046
stage_data() { bench 40 data 1 $(size '12 768 12 1024 32' '1 16 2 9 1'); }
stage_fp32() {
    if [[ -n $emulated ]]; then
        bench 60 gpt 0.01 1 16 2 9 2
    else
        bench 40 product 0.3 8192 3072 768
        bench 60 gpt 1 12 768 12 1024 8
    fi
}
beside() { [[ -n $emulated || -z $has_torch ]] || run "$1" torch python3 $here/gpu_torch.py "$2" "$bin"; }
stage_ceilings() { beside 60 ceilings; }
stage_torch() { beside 150 ceilings,gpt; }
stage_torch_small() { beside 100 mlp,cnn; }
sanitize() {
    local tool=$1 limit said=$work/sanitizer
    [[ -z $emulated ]] || return 0
    command -v compute-sanitizer >/dev/null || { fails "$tool" 'no compute-sanitizer' && return; }
    limit=$(($(left) > 45 ? 40 : $(left) > 8 ? $(left) - 5 : 3))
    # Each module is asked for kernels that another one has: a failed call of the driver is no fault of a kernel.
    FALAJ_GPU_WITHOUT=library timeout -k 3 $limit compute-sanitizer --tool "$tool" --report-api-errors no --error-exitcode 9 \
        "$bin" check 0 >"$said" 2>&1
    case $? in
    0) keep "{\"stage\": \"$tool\", \"ok\": true}" ;;
    124) keep "{\"stage\": \"$tool\", \"ok\": \"not done in $limit s\", \"errors\": $(grep -cE '= (Error|Invalid)' "$said")}" ;;
    *) fails "$tool" "$(grep -m2 -iE 'invalid|error|race' "$said" | tr '\n' ' ')" ;;
    esac
    { echo "== $tool"; head -c 30000 "$said"; } >>"$out/stderr.txt"
}
# What each kernel of a short step is limited by, from the card's own counters; no line, a table for who writes kernels.
stage_ncu() {
    [[ -z $emulated ]] || return 0
    command -v ncu >/dev/null || { fails ncu 'no ncu' && return; }
    FALAJ_GPU_BF16=1 FALAJ_GPU_EACH=1 timeout -k 3 "$(($(left) > 60 ? 50 : $(left) > 8 ? $(left) - 5 : 3))" \
        ncu --clock-control none --section SpeedOfLight --section LaunchStats --section Occupancy --section WarpStateStats \
        --kernel-name regex:^kernel_ -c 80 --csv --page raw "$bin" gpt 0.01 2 768 12 1024 4 >"$out/ncu.csv" 2>>"$out/stderr.txt"
    python3 $here/ncu.py "$out/ncu.csv" >"$out/ncu.txt" 2>>"$out/stderr.txt" &&
        keep "{\"stage\": \"ncu\", \"kernels\": $(wc -l <"$out/ncu.txt")}"
}
stage_memcheck() { sanitize memcheck; }
stage_racecheck() { sanitize racecheck; }

# The machine, once.
card=emulated driver=''
commit=${FALAJ_GPU_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
if [[ -z $emulated$pack ]]; then
    command -v nvidia-smi >/dev/null || { echo "gpu.sh: no nvidia-smi, so no driver and no card" >&2; exit 3; }
    card=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -1)
    driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -1)
    [[ -n $card ]] || { echo "gpu.sh: nvidia-smi shows no card" >&2; exit 3; }
    ! python3 -c 'import importlib.util as u, sys; sys.exit(not u.find_spec("torch"))' 2>/dev/null || has_torch=1
fi
if [[ -z $bin ]]; then
    from=$SECONDS
    build "$work/bench_gpu" "$work/build" 2>"$work/err" || {
        cat "$work/err" >&2
        fails build "$(tail -1 "$work/err")"
        exit 1
    }
    bin=$work/bench_gpu
    keep "{\"stage\": \"build\", \"seconds\": $((SECONDS - from))}"
    if [[ -n $pack ]]; then
        [[ $pack == /dev/null ]] || { install -m 755 "$bin" "$pack" && echo "$versions" >"$pack.compiler"; }
        exit
    fi
else
    [[ -x $bin ]] || { echo "gpu.sh: $bin is no program" >&2; exit 2; }
    bin=$(realpath "$bin")
    [[ -z $emulated ]] && versions=$(cat "$bin.compiler" 2>/dev/null || echo unknown)
fi
printf -v on '"card": "%s", "driver": "%s", "compiler": "%s", "commit": "%s"' "$(text "$card")" "$(text "$driver")" \
    "$(text "$versions")" "$commit"
[[ -n $only ]] && IFS=, read -ra all <<<"$only"
for name in "${all[@]}"; do
    [[ $(type -t "stage_$name") == function ]] || { echo "gpu.sh: no stage $name (--list)" >&2; exit 2; }
done
for name in "${all[@]}"; do
    from=$SECONDS
    "stage_$name"
    echo "$name $((SECONDS - from))" >>"$work/seconds"
    if grep -q '"stage": "open"' "$lines"; then
        echo "gpu.sh: this program cannot open the card" >&2
        exit 3
    fi
done
[[ -n $emulated || -n ${OUT:-} ]] || cat "$lines" >>$here/figures.jsonl
{
    printf '\n%s, %s, %s: %d s (%s)\n' "$card" "$driver" "$commit" $((SECONDS - began)) "$(paste -sd, "$work/seconds")"
    sed -E 's/, "at": .*//; s/[{}"]//g; s/^stage: //' "$lines" >"$work/table"
    grep '^profile' "$work/table" | awk '/^profile, of/ { n = 0 } n++ < 28'
    grep -v '^profile' "$work/table"
} | if [[ -n ${OUT:-} ]]; then tee "$out/table.txt"; else cat; fi
exit "$failed"
