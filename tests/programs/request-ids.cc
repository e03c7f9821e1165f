// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Does what request-ids.c does, in C++: shop::Server::handle() gets 7000 + i by reference,
 * shop::Server::take() 9000 + i.
 */
#include <cstdlib>
#include "request-ids.h"

namespace shop {
struct Server {
	__attribute__((noipa)) void handle(const request &r);
	__attribute__((noipa)) void take(short id);
	int nr = 0;
};

void Server::handle(const request &r)
{
	spin_us(2000);
	nr += r.kind;
}

void Server::take(short id)
{
	spin_us(2000);
	nr += id;
}
}

int main(int argc, char **argv)
{
	int nr = argc > 1 ? atoi(argv[1]) : 20;
	shop::Server server;

	for (int i = 0; i < nr; i++) {
		request r = {};

		r.id = 7000 + i;
		server.handle(r);
		server.take(9000 + i);
	}
	return server.nr == 1;
}
