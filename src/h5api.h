/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5api: HDF5 reached at run time only. The functions and predefined types we use are looked up in
 * a library opened privately, so that no HDF5 of the application can get between (and none is
 * needed to load libscope). Only types come from hdf5.h: macros that hide a symbol (H5T_NATIVE_INT,
 * H5P_FILE_ACCESS, H5F_ACC_TRUNC) are not to be used; members of struct sc_h5api have the plain
 * names. One thread.
 */
#ifndef SC_H5API_H
#define SC_H5API_H

#include <hdf5.h>
#include <signal.h>

/* clang-format off */
/* X(function) */
#define SC_H5_FUNCTIONS(X)                                                                        \
    X(H5open) X(H5close) X(H5dont_atexit) X(H5get_libversion) X(H5free_memory)                    \
    X(H5Eset_auto2) X(H5Eget_auto2) X(H5Ewalk2)                                                   \
    X(H5FDregister) X(H5FDunregister) X(H5Fcreate) X(H5Fopen) X(H5Fclose) X(H5Fflush)             \
    X(H5Fis_hdf5) X(H5Fset_dset_no_attrs_hint)                                                    \
    X(H5Gcreate2) X(H5Gopen2) X(H5Gget_info) X(H5Gclose)                                          \
    X(H5Lexists)                                                                                  \
    X(H5Oexists_by_name) X(H5Oopen) X(H5Oclose)                                                   \
    X(H5Dcreate2) X(H5Dopen2) X(H5Dread) X(H5Dwrite) X(H5Dget_space) X(H5Dget_type)               \
    X(H5Dget_create_plist) X(H5Dget_offset) X(H5Dget_storage_size) X(H5Dclose)                    \
    X(H5Screate) X(H5Screate_simple) X(H5Sselect_hyperslab) X(H5Sselect_none)                     \
    X(H5Sget_simple_extent_ndims)                                                                 \
    X(H5Sget_simple_extent_dims) X(H5Sget_simple_extent_npoints) X(H5Sclose)                      \
    X(H5Acreate2) X(H5Aopen) X(H5Aopen_by_idx) X(H5Aexists) X(H5Aread) X(H5Awrite)                \
    X(H5Aget_name) X(H5Aget_space) X(H5Aget_type) X(H5Aget_num_attrs) X(H5Aclose)                 \
    X(H5Tcreate) X(H5Tcopy) X(H5Tinsert) X(H5Tset_size) X(H5Tset_cset) X(H5Tset_strpad)           \
    X(H5Tget_class) X(H5Tget_size) X(H5Tis_variable_str) X(H5Tget_member_index)                   \
    X(H5Tget_member_class) X(H5Tget_member_offset) X(H5Tget_member_type) X(H5Tget_nmembers)       \
    X(H5Tget_super) X(H5Tclose)                                                                   \
    X(H5Pset_driver) X(H5Pcreate) X(H5Pclose) X(H5Pset_libver_bounds)                             \
    X(H5Pset_obj_track_times) X(H5Pset_attr_phase_change) X(H5Pset_alloc_time)                    \
    X(H5Pset_fill_time) X(H5Pset_chunk) X(H5Pset_deflate) X(H5Pget_nfilters)                      \
    X(H5Pset_link_phase_change)                                                                   \
    X(H5Zfilter_avail)

/* X(variable): read anew by each sc_h5_load(), since H5close() would change them. */
#define SC_H5_VALUES(X)                                                                           \
    X(H5T_NATIVE_INT8_g) X(H5T_NATIVE_UINT8_g) X(H5T_NATIVE_INT32_g) X(H5T_NATIVE_UINT32_g)       \
    X(H5T_NATIVE_INT64_g) X(H5T_NATIVE_UINT64_g) X(H5T_NATIVE_FLOAT_g) X(H5T_NATIVE_DOUBLE_g)     \
    X(H5T_C_S1_g)                                                                                 \
    X(H5P_CLS_FILE_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_GROUP_CREATE_ID_g)          \
    X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_DATASET_ACCESS_ID_g) X(H5P_CLS_DATASET_XFER_ID_g)

/* X(function): NULL where the library lacks it (a serial build, another release). */
#define SC_H5_OPTIONAL(X)                                                                         \
    X(H5Pset_file_locking) X(H5Pset_fapl_mpio) X(H5Pset_dxpl_mpio) X(H5Pset_all_coll_metadata_ops)\
    X(H5Gget_objinfo)
/* clang-format on */

#define SC_H5_FUNCTION_MEMBER(name) __typeof__(name) *name;
#define SC_H5_VALUE_MEMBER(name) hid_t name;
struct sc_h5api {
    SC_H5_FUNCTIONS(SC_H5_FUNCTION_MEMBER)
    SC_H5_VALUES(SC_H5_VALUE_MEMBER)
    SC_H5_OPTIONAL(SC_H5_FUNCTION_MEMBER)
};

/* What H5F_ACC_RDONLY and its like are, without the call that hides in them. */
enum { SC_H5F_RDONLY = 0x0, SC_H5F_RDWR = 0x1, SC_H5F_TRUNC = 0x2, SC_H5F_EXCL = 0x4 };

/* Names of libraries to try, in this order, ended by NULL. An explicit one in the environment
 * variable SCOPE_HDF5_LIBRARY is tried alone. The first that loads serves the process from then on
 * and is never unloaded. 0, or SC_EUNAVAIL with the reason; *out is lent. */
int sc_h5_load(const char *const *candidates, const struct sc_h5api **out);

/* Every use of HDF5 stands between these two: it prints no errors of its own meanwhile, and a file
 * that grows beyond the process's limit is an error, not a SIGXFSZ that ends the program. */
struct sc_h5_printing {
    H5E_auto2_t function;
    void *data;
    sigset_t signals; /* the caller's mask */
    int pending;      /* SIGXFSZ was pending before */
};
void sc_h5_quiet(const struct sc_h5api *h5, struct sc_h5_printing *saved);
void sc_h5_restore(const struct sc_h5api *h5, const struct sc_h5_printing *saved);

/* sc_fail() with what the last failing HDF5 call said behind the text: "text: reason". Call it at
 * once; the next HDF5 call forgets the reason. */
int sc_h5_fail(const struct sc_h5api *h5, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A file access list without file locks, closed with H5Pclose; negative on failure. */
hid_t sc_h5_file_access(const struct sc_h5api *h5);

#endif
