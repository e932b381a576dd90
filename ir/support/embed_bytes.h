#pragma once
/// A file's bytes in the program, as they are: for data that is too large for cmake/Embed.cmake's strings.

/// Declares char arrays `symbol` and `symbol_end` that hold the bytes of the file at `path`, a string literal, between
/// them, aligned to 16. At namespace scope of one source file.
#define PERFC_EMBED_BYTES(symbol, path)  \
  __asm__(                               \
      ".pushsection .rodata\n"           \
      ".balign 16\n"                     \
      ".globl " #symbol "\n" #symbol     \
      ":\n"                              \
      ".incbin \"" path                  \
      "\"\n"                             \
      ".globl " #symbol "_end\n" #symbol \
      "_end:\n"                          \
      ".popsection\n");                  \
  extern "C" const char symbol[], symbol##_end[]
