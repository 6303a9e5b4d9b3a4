/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * flips FILE COUNT: flips one bit at a time at COUNT places spread over FILE and runs `scope
 * inspect --full` on each. It must end with 0 and nothing on standard error, or with 2, one line
 * there and nothing on standard output, and before long. Prints how often which. Used by damage.sh.
 */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char *read_all(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    char *data = malloc(1 << 24);

    *length = file == NULL || data == NULL ? 0 : fread(data, 1, (1 << 24) - 1, file);
    if (file != NULL)
        fclose(file);
    if (data != NULL)
        data[*length] = '\0';
    return data;
}

static void write_all(const char *path, const char *data, size_t length)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(data, 1, length, file) != length || fclose(file) != 0)
        exit(99);
}

static int run(void)
{
    char *arguments[] = {"scope", "inspect", "--full", "flipped.h5", NULL};
    posix_spawn_file_actions_t actions;
    int status = -1;
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "out", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    posix_spawn_file_actions_addopen(&actions, 2, "err", O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (posix_spawnp(&child, arguments[0], &actions, NULL, arguments, environ) != 0)
        exit(99);
    posix_spawn_file_actions_destroy(&actions);
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What the command said: a sanitizer adds lines of its own about memory that was refused. */
static const char *own_words(const char *err)
{
    while (strncmp(err, "==", 2) == 0 && strstr(err, "AddressSanitizer failed to allocate") != NULL)
        err = strchr(err, '\n') == NULL ? "" : strchr(err, '\n') + 1;
    return err;
}

/* What is wrong with how the command ended, or NULL. */
static const char *complaint(int code)
{
    size_t out_length, err_length;
    char *out = read_all("out", &out_length), *err = read_all("err", &err_length);
    const char *said = own_words(err), *newline = strchr(said, '\n');
    int one_line = strncmp(said, "scope: ", 7) == 0 && newline == err + err_length - 1;
    const char *wrong = code != 0 && code != 2                       ? "exit status"
                        : code == 0 && *said != '\0'                 ? "words with status 0"
                        : code == 2 && (out_length > 0 || !one_line) ? "not one line"
                                                                     : NULL;

    free(out);
    free(err);
    return wrong;
}

int main(int argc, char **argv)
{
    size_t length, count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    char *data = argc == 3 ? read_all(argv[1], &length) : NULL;
    unsigned fine = 0, refused = 0, failed = 0;

    if (data == NULL || length == 0 || count == 0)
        return 99;
    for (size_t i = 0; i < count; i++) {
        size_t at = length * i / count;
        time_t start = time(NULL);
        const char *wrong;
        int code;

        data[at] = (char)(data[at] ^ 1 << i % 8);
        write_all("flipped.h5", data, length);
        data[at] = (char)(data[at] ^ 1 << i % 8);
        code = run();
        wrong = complaint(code);
        if (wrong == NULL && time(NULL) - start > 15)
            wrong = "takes long";
        if (wrong != NULL)
            printf("byte %zu, bit %zu: %s (status %d)\n", at, i % 8, wrong, code);
        failed += wrong != NULL;
        fine += code == 0;
        refused += code == 2;
    }
    printf("%zu flips: %u still readable, %u refused, %u wrong\n", count, fine, refused, failed);
    free(data);
    return failed > 0 || refused == 0;
}
