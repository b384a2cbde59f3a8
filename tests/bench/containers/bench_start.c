/* SPDX-License-Identifier: Apache-2.0 */
/* bench_start.c ARCHIVE TURNS - whole leases of /bin/true in an image, by a real falaj-worker's child (FALAJ_BIN): with an image
 * that the machine has not seen, one that it keeps, and in the machine's own /usr; and a loop that only computes, in a box and
 * outside, in turns. The platform's side is files in memory. Prints a line of JSON for each turn. */
#include "tests/unit/workers/lease/run_kit.h"
#include "workers/image/oci.h"
#include "workers/lease/child.h"
#include "workers/lease/image_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define LOOP "n=0; while [ $n -lt 2000000 ]; do n=$((n+1)); done"
#define IN_IMAGE "\"environment\":\"dst_0123456789abcdef0123456789abcdef@1\","
enum { CACHE_MIB = 2048 };

struct lease { const char *spec; bool has_image; };

static const struct lease in_image = { "{" IN_IMAGE "\"command\":[\"/bin/true\"]}", true },
                          in_host = { "{\"command\":[\"/bin/true\"]}", false },
                          loop = { "{\"command\":[\"sh\",\"-c\",\"" LOOP "\"]}", false };

static double now_ms(void)
{
    return (double)clock_mono_us(&clock_system) / 1000;
}

static double children_cpu_ms(void)
{
    struct rusage u;
    getrusage(RUSAGE_CHILDREN, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 + (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static double run(struct fixture *f, const struct lease_grant *image, const struct lease *l, struct image_cache *images)
{
    static int64_t fence;
    struct lease_grant g = *image;
    const double began = now_ms();
    g.spec.text = str_c(l->spec);
    g.fence = ++fence;
    if (!l->has_image)
        g.inputs.n = 1;
    f->env.images = images;
    executor_run(&f->env, book_add(f->book, &g, true));
    const double ms = now_ms() - began;
    CLEANUP(buf_releasep) struct buf report = BUF((size_t)4 << 20);
    kit_report(f->book, &report);
    if (!strstr(report.ptr, "\"event\":\"succeed\""))
        fail_msg("%s", report.ptr);
    book_free(f->book);
    f->book = book_new(&clock_system, 10000);
    return ms;
}

static double outside_cpu_ms(void)
{
    const double before = children_cpu_ms();
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execlp("sh", "sh", "-c", LOOP, NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    return children_cpu_ms() - before;
}

/* Decrypting the archive and unpacking it, onto memory, and nothing else. */
static double alone_ms(const struct fixture *f, const struct lease_grant *g)
{
    const struct lease_input *in = (const struct lease_input *)g->inputs.items + 1;
    const struct kit_ckpt *k = &f->store.ckpts[0];
    const struct stream_ref ref = { g->tenant_id, in->kind, in->object_id, (uint32_t)in->version, kit_id(61) };
    const struct oci_limits most = { UINT64_C(1) << 40, 10000000, false };
    char folder[] = "/dev/shm/falaj-bench-XXXXXX", remove[80];
    CLEANUP(arena_freep) struct arena *a = arena_new((size_t)1 << 32);
    CLEANUP(fd_closep) int sealed = memfd_create("sealed", MFD_CLOEXEC), archive = memfd_create("archive", MFD_CLOEXEC);
    CLEANUP(buf_releasep) struct buf plain = BUF(0);
    struct oci_image image;
    struct err e = { 0 };
    assert_int_equal(write(sealed, k->sealed.ptr, k->sealed.len), k->sealed.len);
    assert_int_equal(lseek(sealed, 0, SEEK_SET), 0);
    assert_non_null(mkdtemp(folder));
    CLEANUP(fd_closep) int root = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const double began = now_ms();
    assert_int_equal(child_open_sealed(sealed, &ref, &f->store.out_key, in->size_bytes, NULL, &plain, &e), ERR_OK);
    assert_int_equal(write(archive, plain.ptr, plain.len), plain.len);
    if (oci_unpack(archive, root, STR_NULL, &most, a, &image, &e) != ERR_OK)
        fail_msg("%s", e.msg);
    const double ms = now_ms() - began;
    snprintf(remove, sizeof remove, "chmod -R u+rwx %s; rm -rf %s", folder, folder);
    assert_int_equal(system(remove), 0);
    return ms;
}

int main(int argc, char **argv)
{
    static struct fixture f;
    struct buf archive = BUF((size_t)2 << 30);
    struct err e = { 0 };
    if (argc != 3) {
        fprintf(stderr, "bench_start ARCHIVE TURNS\n");
        return 2;
    }
    kit_read_file(argv[1], &archive);
    run_setup(&f, "x");
    assert_int_equal(config_set(f.config, "worker.slot_memory", "6g", &e), ERR_OK);
    struct lease_grant g = kit_grant(1, "run", "");
    kit_add_input(&g, &f.store, "dataset");
    kit_add_sealed(&g, &f.store, "image:", "dataset", STR(""), buf_str(&archive));
    struct image_cache *kept = image_cache_new((int64_t)CACHE_MIB << 20, 3600000, &clock_system);
    (void)run(&f, &g, &in_image, kept);
    for (int i = 0; i < atoi(argv[2]); i++) {
        const double cold = run(&f, &g, &in_image, NULL), warm = run(&f, &g, &in_image, kept);
        const double host = run(&f, &g, &in_host, NULL);
        const double before = children_cpu_ms();
        (void)run(&f, &g, &loop, NULL);
        const double inside = children_cpu_ms() - before;
        const double beside = children_cpu_ms();
        (void)run(&f, &g, &in_host, NULL);
        const double empty = children_cpu_ms() - beside;
        const double alone = alone_ms(&f, &g);
        printf("{\"alone_ms\":%.1f,\"cold_ms\":%.1f,\"warm_ms\":%.1f,\"host_ms\":%.1f,"
               "\"inside_cpu_ms\":%.1f,\"empty_cpu_ms\":%.1f,"
               "\"outside_cpu_ms\":%.1f}\n", alone, cold, warm, host, inside, empty, outside_cpu_ms());
        fflush(stdout);
    }
    image_cache_free(kept);
    return 0;
}
