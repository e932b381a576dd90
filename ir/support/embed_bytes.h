#pragma once
/// A file's bytes in the program, as they are: for data that is too large for cmake/Embed.cmake's strings.

/// Declares char arrays `symbol` and `symbol_end` that hold the bytes of the file at `path`, a string literal, between
/// them, aligned to 16. At namespace scope of one source file.
#ifdef __wasm__
#define PERFC_EMBED_BYTES(symbol, path)                                     \
  __asm__(".section .rodata." #symbol                                       \
          ",\"\",@\n"                                                       \
          ".p2align 4\n"                                                    \
          ".globl " #symbol "\n.type " #symbol ",@object\n" #symbol         \
          ":\n"                                                             \
          ".incbin \"" path                                                 \
          "\"\n"                                                            \
          ".globl " #symbol "_end\n.type " #symbol "_end,@object\n" #symbol \
          "_end:\n"                                                         \
          ".byte 0\n"                                                       \
          ".size " #symbol ", " #symbol "_end - " #symbol                   \
          "\n"                                                              \
          ".size " #symbol                                                  \
          "_end, 1\n"                                                       \
          ".section .text,\"\",@\n");                                       \
  extern "C" const char symbol[], symbol##_end[]
#else
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
#endif
