#pragma once

namespace perfc::cli {

/// From here on this thread, and those that it starts, open, make and remove no file: the kernel refuses (Landlock,
/// Linux 5.13 or later). What is open stays so. False: the kernel cannot.
bool open_no_more_files();

}  // namespace perfc::cli
