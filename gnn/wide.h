#pragma once
/// PERFC_WIDE before a function with a plain loop: compiled for wide vector registers too, and chosen when the program
/// starts. By feature level: "arch=haswell" would mean that maker's processor and no other.
#if defined(PERFC_GEMM_X86) && defined(__GNUC__) && __GNUC__ >= 12 && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__)
#define PERFC_WIDE __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PERFC_WIDE
#endif
