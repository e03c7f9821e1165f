	asm volatile("");	/* asm("pause") in a comment */
	// __x86_64__
asm(".pushsection .rodata\n"
extern const ElfW(Dyn) dynamic[] __asm__("_DYNAMIC");
	gasm *stmt = gimple_build_asm_vec(text, inputs);
#include <asm/local.h>
