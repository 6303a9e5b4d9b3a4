/* SPDX-License-Identifier: BSD-3-Clause
 *
 * launcher: which variables are believed, and the paths made of them. What a launcher says is in
 * the environment a process starts with, so the questions are put to a process started for that:
 * this program with arguments.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "launcher.h"

enum { VARIABLES_MAX = 4 };
typedef const char *const variables[VARIABLES_MAX + 1]; /* NAME=VALUE, ended by NULL */

static char answer[5000];

/* Starts this program in /tmp with these variables and no others; what it prints is then in answer.
 */
static void ask(variables given, const char *path)
{
    char *arguments[] = {(char[]){"launcher"}, strdup(path), NULL};
    char *environment[VARIABLES_MAX + 1] = {NULL};
    int pipe_ends[2], status;
    size_t length = 0;
    ssize_t got;

    for (int i = 0; given[i] != NULL; i++)
        environment[i] = strdup(given[i]);
    assert_int_equal(pipe(pipe_ends), 0);
    if (fork() == 0) {
        dup2(pipe_ends[1], STDOUT_FILENO);
        if (chdir("/tmp") == 0)
            execve("/proc/self/exe", arguments, environment);
        _exit(9);
    }
    close(pipe_ends[1]);
    while ((got = read(pipe_ends[0], answer + length, sizeof answer - 1 - length)) > 0)
        length += (size_t)got;
    answer[length] = '\0';
    close(pipe_ends[0]);
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
    free(arguments[1]);
    for (int i = 0; given[i] != NULL; i++)
        free(environment[i]);
}

/* The program so started: rank and size, then the path made of its argument for a run of its own.
 */
static int give_answer(const char *path)
{
    struct sc_string made = {0};

    setenv("PMIX_RANK", "77", 1); /* as MPI_Init does: too late to count */
    if (sc_launcher_path(path, 1, &made) != 0)
        return 1;
    printf("%d of %d: %s", sc_launcher_rank(), sc_launcher_size(), made.data);
    sc_string_free(&made);
    return 0;
}

static void without_a_launcher_nothing_is_known(void **state)
{
    (void)state;
    ask((variables){NULL}, "run.h5");
    assert_string_equal(answer, "-1 of -1: /tmp/run.h5"); /* nobody else's file to step on */
}

static void every_launcher_is_understood(void **state)
{
    static variables said[] = {
        {"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=8"},
        {"MV2_COMM_WORLD_RANK=3", "MV2_COMM_WORLD_SIZE=8"},
        {"PMI_RANK=3", "PMI_SIZE=8"},
        {"JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=8"},
        {"FLUX_TASK_RANK=3", "FLUX_JOB_SIZE=8"},
        {"MPI_LOCALRANKID=3", "MPI_LOCALNRANKS=8"},
    };
    static variables without_size[] = {
        {"OMPI_COMM_WORLD_RANK=3"}, {"PMI_RANK=3"},    {"PMIX_RANK=3"},
        {"PALS_RANKID=3"},          {"ALPS_APP_PE=3"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        ask(said[i], "run.h5");
        assert_string_equal(answer, "3 of 8: /tmp/run_rank00003.h5");
    }
    for (size_t i = 0; i < sizeof without_size / sizeof without_size[0]; i++) {
        ask(without_size[i], "run.h5");
        assert_string_equal(answer, "3 of -1: /tmp/run_rank00003.h5");
    }
}

/* In a batch script SLURM_PROCID is 0, whatever that starts. */
static void a_batch_script_is_no_rank(void **state)
{
    (void)state;
    ask((variables){"SLURM_PROCID=0", "SLURM_NTASKS=4"}, "x");
    assert_string_equal(answer, "-1 of -1: /tmp/x");
    ask((variables){"SLURM_PROCID=0", "OMPI_COMM_WORLD_RANK=2"}, "x");
    assert_string_equal(answer, "2 of -1: /tmp/x_rank00002");
}

/* srun --mpi=none has nothing else to say, srun --mpi=pmix no size. */
static void a_task_of_srun_knows_its_rank(void **state)
{
    (void)state;
    ask((variables){"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=3"}, "x");
    assert_string_equal(answer, "2 of 3: /tmp/x_rank00002");
    ask((variables){"SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=3", "PMIX_RANK=2"}, "x");
    assert_string_equal(answer, "2 of 3: /tmp/x_rank00002");
    ask((variables){"SLURM_PROCID=3", "SLURM_STEP_NUM_TASKS=3"}, "x");
    assert_string_equal(answer, "-1 of -1: /tmp/x"); /* no such task among three */
}

/* mpirun starts its helper on each further node with srun: one task there, whatever it starts. */
static void another_launcher_below_srun_is_asked_first(void **state)
{
    (void)state;
    ask((variables){"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "PMI_RANK=3", "PMI_SIZE=4"}, "x");
    assert_string_equal(answer, "3 of 4: /tmp/x_rank00003");
    ask((variables){"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1", "PMIX_RANK=3"}, "x");
    assert_string_equal(answer, "3 of -1: /tmp/x_rank00003");
}

static void rank_within_the_node_comes_last(void **state)
{
    (void)state;
    ask((variables){"MPI_LOCALRANKID=0", "MPI_LOCALNRANKS=2", "PMI_RANK=5", "PMI_SIZE=8"}, "x");
    assert_string_equal(answer, "5 of 8: /tmp/x_rank00005");
}

static void nonsense_is_not_believed(void **state)
{
    static variables wrong[] = {
        {"PMI_RANK="},
        {"PMI_RANK=-1"},
        {"PMI_RANK=x"},
        {"PMI_RANK=99999999999"},
        {"PMI_RANK=1x"},
        {"PMI_RANK= 1"},
        {"PMI_RANK"},
        {"XPMI_RANK=1"},
        {"PMI_RANK=4", "PMI_SIZE=4"}, /* no such rank among four */
    };

    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ask(wrong[i], "x");
        assert_string_equal(answer, "-1 of -1: /tmp/x");
    }
}

static void the_rank_stands_before_the_extension(void **state)
{
    static const char *const paths[][2] = {
        {"/a.b/run", "12 of -1: /a.b/run_rank00012"},
        {"/a/.hidden", "12 of -1: /a/.hidden_rank00012"},
        {"/a/run.tar.h5", "12 of -1: /a/run.tar_rank00012.h5"},
        {"out/run.h5", "12 of -1: /tmp/out/run_rank00012.h5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        ask((variables){"PMI_RANK=12"}, paths[i][0]);
        assert_string_equal(answer, paths[i][1]);
    }
    ask((variables){"PMI_RANK=1234567"}, "/a/run.h5");
    assert_string_equal(answer, "1234567 of -1: /a/run_rank1234567.h5");
}

static void override_is_a_boolean_or_nothing(void **state)
{
    (void)state;
    unsetenv("SCOPE_PROFILER_MPI");
    assert_int_equal(sc_launcher_override(), -1);
    setenv("SCOPE_PROFILER_MPI", "0", 1);
    assert_int_equal(sc_launcher_override(), 0);
    setenv("SCOPE_PROFILER_MPI", "1", 1);
    assert_int_equal(sc_launcher_override(), 1);
    setenv("SCOPE_PROFILER_MPI", "maybe", 1);
    assert_int_equal(sc_launcher_override(), -1);
    setenv("SCOPE_PROFILER_MPI", "", 1);
    assert_int_equal(sc_launcher_override(), -1);
}

static void assert_path(const char *given, const char *wanted)
{
    struct sc_string path = {0};

    assert_int_equal(sc_launcher_path(given, 0, &path), 0);
    assert_string_equal(path.data, wanted);
    sc_string_free(&path);
}

static void a_path_is_made_absolute(void **state)
{
    (void)state;
    assert_int_equal(chdir("/tmp"), 0);
    assert_path("run.h5", "/tmp/run.h5");
    assert_path("out/run.h5", "/tmp/out/run.h5");
    assert_path("/elsewhere/run.h5", "/elsewhere/run.h5");
    assert_int_equal(chdir("/"), 0);
    assert_path("run.h5", "/run.h5");
}

static void an_impossible_path_is_an_error(void **state)
{
    struct sc_string path = {0};
    char folder[] = "/tmp/scope-launcher-XXXXXX";

    (void)state;
    assert_int_equal(sc_launcher_path("", 0, &path), SC_EINVAL);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(sc_launcher_path("run.h5", 0, &path), SC_EIO);
    assert_int_equal(sc_launcher_path("/a/run.h5", 0, &path), 0); /* needs no working directory */
    sc_string_free(&path);
    assert_int_equal(chdir("/"), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_launcher_nothing_is_known),
        cmocka_unit_test(every_launcher_is_understood),
        cmocka_unit_test(a_batch_script_is_no_rank),
        cmocka_unit_test(a_task_of_srun_knows_its_rank),
        cmocka_unit_test(another_launcher_below_srun_is_asked_first),
        cmocka_unit_test(rank_within_the_node_comes_last),
        cmocka_unit_test(nonsense_is_not_believed),
        cmocka_unit_test(the_rank_stands_before_the_extension),
        cmocka_unit_test(override_is_a_boolean_or_nothing),
        cmocka_unit_test(a_path_is_made_absolute),
        cmocka_unit_test(an_impossible_path_is_an_error),
    };

    if (argc > 1)
        return give_answer(argv[1]);
    return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
