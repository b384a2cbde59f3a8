/* SPDX-License-Identifier: Apache-2.0 */
/* bench_keys.c - how fast the keys are: wraps and unwraps in a token, sealing of objects, hashing. One line each.
 *
 *     bench_keys token MODULE LABEL PIN_FILE     wraps, unwraps, signatures and sovereign data keys per second, 1 and 8 threads
 *     bench_keys bulk                            MB/s of stream_sealer and sha256 on 1 MiB pieces in this process
 * `openssl speed -evp aes-256-gcm -bytes 1048576` and `-evp sha256` are what bulk is held against (tests/bench/keys.sh). */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "core/base/log.h"
#include "core/crypto/hash.h"
#include "core/crypto/stream.h"
#include "keys/provider.h"

enum { SECONDS = 2, THREADS = 8 };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double now(void)
{
    return seconds(CLOCK_MONOTONIC);
}

/* As `openssl speed` counts: other processes do not matter. */
static double cpu(void)
{
    return seconds(CLOCK_PROCESS_CPUTIME_ID);
}

struct job {
    void *p;
    int what;
    struct key_object *o;
    struct key_blob wrapped, under_object;
    long done;
};

static const struct blob_head head = { .version = 1 };

static void *work(void *arg)
{
    struct job *j = arg;
    const struct secret32 key = { { 1 } };
    struct secret32 out;
    struct key_blob blob;
    struct aad aad;
    uint8_t sig[64];
    aad_init(&aad, "bench");
    for (double end = now() + SECONDS; now() < end; j->done++) {
        enum errc rc = j->what == 0   ? provider_pkcs11.wrap(j->p, head, &aad, &key, &blob, NULL)
                       : j->what == 1 ? provider_pkcs11.unwrap(j->p, head, &aad, &j->wrapped, &out, NULL)
                       : j->what == 2 ? provider_pkcs11.sign(j->p, "head", 4, sig, NULL)
                                      : provider_pkcs11.object_unwrap(j->p, j->o, head, &aad, &j->under_object, &out, NULL);
        if (rc != ERR_OK)
            return NULL;
    }
    return NULL;
}

static int token(const char *module, const char *label, const char *pin_file)
{
    static const char *const names[] = { "wrap", "unwrap", "sign", "sovereign unwrap" };
    for (int kwp = 0; kwp < 2; kwp++) {
        struct provider_config c = { .zone = STR("ae-dxb-1"), .path = module, .token_label = label, .pin_file = pin_file, .is_init = true,
                                     .mechanism = kwp ? WRAP_KWP : WRAP_GCM };
        struct key_object o = { .label = "falaj-tkek-bench" };
        const struct secret32 key = { { 1 } };
        struct aad aad;
        struct err e;
        void *p = NULL;
        struct job model = { .o = &o };
        aad_init(&aad, "bench");
        if (provider_pkcs11.open(&c, &p, &e) != ERR_OK || provider_pkcs11.wrap(p, head, &aad, &key, &model.wrapped, &e) != ERR_OK
            || provider_pkcs11.object_new(p, &o, &e) != ERR_OK
            || provider_pkcs11.object_wrap(p, &o, head, &aad, &key, &model.under_object, &e) != ERR_OK) {
            fprintf(stderr, "%s\n", e.msg);
            return 1;
        }
        model.p = p;
        for (int n = 1; n <= THREADS; n *= THREADS)
            for (int what = 0; what < 4; what++) {
                struct job j[THREADS];
                pthread_t t[THREADS];
                long done = 0;
                for (int i = 0; i < n; i++) {
                    j[i] = model;
                    j[i].what = what;
                    pthread_create(&t[i], NULL, work, &j[i]);
                }
                for (int i = 0; i < n; i++) {
                    pthread_join(t[i], NULL);
                    done += j[i].done;
                }
                printf("%s %-16s %d threads %8ld /s\n", kwp ? "kwp" : "gcm", names[what], n, done / SECONDS);
            }
        provider_pkcs11.close(p);
    }
    return 0;
}

static enum errc drop(void *ctx, const void *p, size_t n, struct err *e)
{
    (void)ctx, (void)p, (void)n, (void)e;
    return ERR_OK;
}

static int bulk(void)
{
    static uint8_t chunk[STREAM_CHUNK];
    const struct secret32 key = { { 1 } };
    const struct stream_ref ref = { { { 1 } }, STR("dataset"), { { 2 } }, 1, { { 3 } } };
    struct stream_sealer *s = NULL;
    uint8_t digest[SHA256_BYTES];
    long n = 0;
    double start = cpu();
    if (stream_sealer_new(&key, &ref, drop, NULL, &s, NULL) != ERR_OK)
        return 1;
    for (; cpu() - start < SECONDS; n++)
        if (stream_sealer_feed(s, chunk, sizeof chunk, NULL) != ERR_OK)
            return 1;
    printf("stream seal %.0f MB/s\n", (double)n * STREAM_CHUNK / 1e6 / (cpu() - start));
    stream_sealer_free(s);
    start = cpu();
    for (n = 0; cpu() - start < SECONDS; n++)
        sha256(chunk, sizeof chunk, digest);
    printf("sha256 %.0f MB/s\n", (double)n * STREAM_CHUNK / 1e6 / (cpu() - start));
    return 0;
}

int main(int argc, char **argv)
{
    if (secmem_init(1 << 20, false, NULL) != ERR_OK)
        return 1;
    log_setup("bench", LOG_ERROR, LOGFMT, 2);
    if (argc == 5 && strcmp(argv[1], "token") == 0)
        return token(argv[2], argv[3], argv[4]);
    if (argc == 2 && strcmp(argv[1], "bulk") == 0)
        return bulk();
    fprintf(stderr, "usage: bench_keys token MODULE LABEL PIN_FILE | bench_keys bulk\n");
    return 2;
}
