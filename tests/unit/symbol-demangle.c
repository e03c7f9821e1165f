// SPDX-License-Identifier: GPL-2.0-or-later
/* Tests the conversion of linker names to readable names. */
#include "symbol/demangle.h"
#include "tap.h"

static void fold(const char *name, const char *want)
{
	char buf[256];

	snprintf(buf, sizeof(buf), "%s", name);
	demangle_fold(buf);
	is_str(buf, want, name);
}

static void demangle(const char *raw, const char *want)
{
	char *name = demangle_name(raw);

	is_str(name, want, raw);
	free(name);
}

int main(void)
{
	fold("main", "main");
	fold("work.cold", "work");
	fold("work.part.0", "work");
	fold("work.isra.0.cold", "work");
	fold("work.constprop.12.isra.3", "work");
	fold("work.lto_priv.0", "work");
	fold("work._omp_fn.0", "work._omp_fn.0");
	fold("work._omp_fn.0.cold", "work._omp_fn.0");
	fold("cold", "cold");
	fold(".cold", ".cold");
	fold("a.coldest", "a.coldest");
	fold("a.0", "a.0");
	fold("", "");
	fold("..", "..");

	demangle("main", "main");
	demangle("", "");
	demangle("_Z15request_handleriRNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
		 "request_handler");
	demangle("_ZNK3foo3Bar3getEv", "foo::Bar::get");
	demangle("_ZN3foo3BarC1Ei", "foo::Bar::Bar");
	demangle("_ZN3foo3BarD0Ev", "foo::Bar::~Bar");
	demangle("_ZN3foo3BarclEi", "foo::Bar::operator()");
	demangle("_ZN3foo3BarcviEv", "foo::Bar::operator int");
	demangle("_ZN3fooltERKNS_3BarES2_", "foo::operator<");
	demangle("_ZN3foolsERSoRKNS_3BarE", "foo::operator<<");
	demangle("_ZN3foo3BarptEv", "foo::Bar::operator->");
	demangle("_Znwm", "operator new");
	demangle("_ZN12_GLOBAL__N_14workEi", "(anonymous namespace)::work");
	/* int max<int>(int, int): templates have their return type in the name. */
	demangle("_Z3maxIiET_S0_S0_", "max<int>");
	demangle("_Z3getImEmv", "get<unsigned long>");
	demangle("_ZNSt6vectorIiSaIiEE9push_backERKi", "std::vector<int, std::allocator<int> >::push_back");
	/* main::{lambda(int)#1}::operator()(int) const */
	demangle("_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()");
	demangle("_ZZN3foo3Bar3runEvENKUlvE_clEv", "foo::Bar::run()::{lambda()#1}::operator()");
	demangle("_ZZNK3foo3Bar3runEvENKUlvE_clEv", "foo::Bar::run() const::{lambda()#1}::operator()");
	demangle("_Z4worki._omp_fn.0", "work._omp_fn.0");
	/* These look like linker names, but are none. */
	demangle("_Z", "_Z");
	demangle("_Zzzzzz", "_Zzzzzz");
	return done();
}
