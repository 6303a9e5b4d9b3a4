/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * launcher: what the environment says about this process before MPI does: a rank for naming, never
 * for deciding. Called by the runtime when recording begins; one thread at a time, since it reads
 * the environment.
 */
#ifndef SC_LAUNCHER_H
#define SC_LAUNCHER_H

struct sc_string;

/* The launcher's word, as it stood in the environment when this process was started, about its rank
 * and how many there are; -1 when it does not say. Slurm comes last and is believed only by what
 * srun itself started: what mpirun starts inside a job sees the numbers of the batch script. */
int sc_launcher_rank(void);
int sc_launcher_size(void);

/* SCOPE_PROFILER_MPI: 0 or 1 (or another boolean), -1 when unset or no boolean;
 * sc_settings_resolve() warns of the latter. */
int sc_launcher_override(void);

/*
 * Appends file_path to out, made absolute from the working directory of this moment; when
 * per_process_run and the launcher names a rank, with _rank<NNNNN> before the extension of its last
 * component. Nothing is resolved or created. 0, SC_EINVAL (empty path), SC_EIO (no working
 * directory), SC_ENOMEM.
 */
int sc_launcher_path(const char *file_path, int per_process_run, struct sc_string *out);

#endif
