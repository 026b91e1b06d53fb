/** The functions of WASI preview 1 (https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md). */
export const wasiModule = "wasi_snapshot_preview1";

/** The imports that can wait for a broker: files, and time where it is real. */
export const waitingNames: ReadonlySet<string> = new Set([
  "fd_close",
  "fd_datasync",
  "fd_readdir",
  "fd_renumber",
  "fd_sync",
  "path_filestat_get",
  "path_open",
  "path_unlink_file",
  "poll_oneoff",
]);

/** There are no sockets; and files have one name each, and no folders of their own. */
export const unsupportedNames: readonly string[] = [
  "path_create_directory",
  "path_filestat_set_times",
  "path_link",
  "path_readlink",
  "path_remove_directory",
  "path_rename",
  "path_symlink",
  "sock_accept",
  "sock_recv",
  "sock_send",
  "sock_shutdown",
];

export const wasiNames: ReadonlySet<string> = new Set([
  ...waitingNames,
  ...unsupportedNames,
  "args_get",
  "args_sizes_get",
  "clock_res_get",
  "clock_time_get",
  "environ_get",
  "environ_sizes_get",
  "fd_advise",
  "fd_allocate",
  "fd_fdstat_get",
  "fd_fdstat_set_flags",
  "fd_fdstat_set_rights",
  "fd_filestat_get",
  "fd_filestat_set_size",
  "fd_filestat_set_times",
  "fd_pread",
  "fd_prestat_dir_name",
  "fd_prestat_get",
  "fd_pwrite",
  "fd_read",
  "fd_seek",
  "fd_tell",
  "fd_write",
  "proc_exit",
  "proc_raise",
  "random_get",
  "sched_yield",
]);

/** `errno` of WASI preview 1. */
export const errno = {
  success: 0,
  access: 2,
  badf: 8,
  exist: 20,
  fault: 21,
  fbig: 22,
  inval: 28,
  io: 29,
  isdir: 31,
  mfile: 33,
  noent: 44,
  nospc: 51,
  notdir: 54,
  notsup: 58,
  spipe: 70,
  notcapable: 76,
} as const;
