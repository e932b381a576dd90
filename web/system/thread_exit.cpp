/// The one thread ends with the page: what is local to it is never destroyed.
extern "C" int __cxa_thread_atexit(void (*)(void*), void*, void*) { return 0; }
