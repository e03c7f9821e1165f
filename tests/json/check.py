#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Checks JSON documents of ldb against their schemas.

	check.py SCHEMAS			the schemas themselves
	check.py SCHEMAS [--unseen LIST] FILE...	documents
	check.py SCHEMAS --mutate FILE...	that a document which is changed is refused

SCHEMAS is the folder of the schemas; a document's "format" is the name of its schema.  FILE may have
several documents, one after the other, and arrays of them; of a folder, all files are read.  Prints
a line for each thing that is wrong, and lines that begin with "#"; the exit status is 1 if anything
is wrong.

Of the elements of an array, the first ones are checked, and those that differ in anything that a
schema could distinguish: members, types, signs, words.  A document that is like an earlier one is
not checked again.

--unseen: each member that a schema has must be in a document, or in LIST, which has lines "SCHEMA
MEMBER: why".  A member that is in LIST and in a document is reported, too.
"""
import json
import os
import re
import sys

import jsonschema

COMMON = "common"
ERRORS_MAX = 5		# of a document
FIRST = 4		# elements of an array that are retained
WORD = re.compile(r"[a-z][a-z0-9_.-]{0,31}$")
ADDRESS = re.compile(r"0x[0-9a-f]{1,16}$")


class Schemas:
	def __init__(self, folder):
		self.raw = {}
		for name in sorted(os.listdir(folder)):
			with open(os.path.join(folder, name), encoding="utf-8") as f:
				self.raw[name.removesuffix(".json")] = json.load(f)
		self.whole = {name: self.bundle(name) for name in self.raw if name != COMMON}
		self.validators = {name: jsonschema.Draft202012Validator(s) for name, s in self.whole.items()}

	def bundle(self, name):
		"""The schema with what it refers to, so that no validator has to search for files."""
		whole = rewrite(self.raw[name], lambda ref: ref.replace(COMMON + ".json#/$defs/", "#/$defs/common/"))
		common = rewrite(self.raw[COMMON]["$defs"], lambda ref: ref.replace("#/$defs/", "#/$defs/common/"))
		whole.setdefault("$defs", {})["common"] = common
		return whole


def rewrite(node, ref):
	if isinstance(node, dict):
		return {k: ref(v) if k == "$ref" else rewrite(v, ref) for k, v in node.items()}
	if isinstance(node, list):
		return [rewrite(v, ref) for v in node]
	return node


def resolve(whole, schema, at):
	"""Follows $ref: the schema, and where it is defined."""
	while "$ref" in schema:
		at = schema["$ref"]
		schema = whole
		for step in at[2:].split("/"):
			schema = schema[step]
	return schema, at


def member_name(name, at, key):
	"""What a person calls the member KEY of the object that is defined at the pointer AT."""
	steps = [s for s in at[1:].split("/") if s and s not in ("properties", "items", "$defs")]
	if steps[:1] == ["common"]:
		name = COMMON
		del steps[0]
	return name + " " + ".".join(steps + [key])


def members(whole, name, schema, at="#", done=None):
	"""Every member that the schema has: its name, and whether it is required."""
	done = set() if done is None else done
	schema, at = resolve(whole, schema, at)
	if at in done:
		return
	done.add(at)
	for key, sub in schema.get("properties", {}).items():
		yield member_name(name, at, key)
		yield from members(whole, name, sub, at + "/properties/" + key, done)
	if "items" in schema:
		yield from members(whole, name, schema["items"], at + "/items", done)


def walk(whole, name, schema, value, at="#"):
	"""Every object in the document: the name of each of its members, with its schema."""
	schema, at = resolve(whole, schema, at)
	if isinstance(value, dict):
		for key, sub in schema.get("properties", {}).items():
			if key in value:
				yield member_name(name, at, key), schema, value, key
				yield from walk(whole, name, sub, value[key], at + "/properties/" + key)
	elif isinstance(value, list) and "items" in schema:
		for v in value:
			yield from walk(whole, name, schema["items"], v, at + "/items")


def thin(value):
	"""The value with one of the elements that are alike in each array, and its signature."""
	if isinstance(value, dict):
		parts = {k: thin(v) for k, v in value.items()}
		return {k: v for k, (v, _) in parts.items()}, tuple((k, parts[k][1]) for k in sorted(parts))
	if isinstance(value, list):
		kept, known = [], set()
		for v, signature in map(thin, value):
			# Only the first few are used, because some arrays may have no more
			# elements.
			if len(kept) < FIRST or signature not in known:
				kept.append(v)
			known.add(signature)
		return kept, (frozenset(known), min(len(value), FIRST))
	if isinstance(value, str):
		if WORD.match(value):
			return value, value
		return value, "0x" if ADDRESS.match(value) else " " if value else ""
	if isinstance(value, bool) or value is None:
		return value, value
	return value, (type(value).__name__, (value > 0) - (value < 0), abs(value) >= 1 << 63)


def files(paths):
	for path in paths:
		if os.path.isdir(path):
			yield from sorted(e.path for e in os.scandir(path) if e.is_file())
		else:
			yield path


def documents(path):
	"""Those in the file: (document, None), or (None, what is wrong)."""
	decoder = json.JSONDecoder()
	with open(path, encoding="utf-8") as f:
		text = f.read()
	at = 0
	while at < len(text):
		if text[at].isspace():
			at += 1
			continue
		try:
			value, at = decoder.raw_decode(text, at)
		except ValueError as e:
			yield None, f"not JSON: {e}"
			return
		yield from ((v, None) for v in (value if isinstance(value, list) else [value]))


class Check:
	def __init__(self, schemas):
		self.schemas = schemas
		self.done = set()
		self.seen = set()
		self.nr = self.nr_files = self.nr_bad = 0

	def complain(self, text):
		self.nr_bad += 1
		print(text)

	def distinct(self, path):
		"""Thinned documents that are like none before, with the name of their schema."""
		self.nr_files += 1
		for doc, why in documents(path):
			if why:
				self.complain(f"{path}: {why}")
				continue
			name = doc.get("format") if isinstance(doc, dict) else None
			if name not in self.schemas.validators:
				self.complain(f"{path}: no schema for the format {json.dumps(name)}: {json.dumps(doc)[:200]}")
				continue
			doc, signature = thin(doc)
			self.nr += 1
			if signature not in self.done:
				self.done.add(signature)
				yield name, doc

	def file(self, path):
		for name, doc in self.distinct(path):
			whole = self.schemas.whole[name]
			self.seen.update(member for member, _, _, _ in walk(whole, name, whole, doc))
			for nr, e in enumerate(self.schemas.validators[name].iter_errors(doc)):
				if nr == ERRORS_MAX:
					break
				where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in e.absolute_path)
				self.complain(f"{path}: {name}{where}: {e.message[:300]}")

	def unseen(self, path):
		with open(path, encoding="utf-8") as f:
			lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
		known = dict(line.split(": ", 1) for line in lines)
		every = {m for name, whole in self.schemas.whole.items() for m in members(whole, name, whole)}
		for member in sorted(every - self.seen - known.keys()):
			self.complain(f"in no document: {member}")
		for member in sorted(known.keys() & self.seen):
			self.complain(f"in a document, although LIST has it: {member}")
		for member in sorted(known.keys() - every):
			self.complain(f"in LIST, but in no schema: {member}")
		print(f"# {len(every)} members, {len(every & self.seen)} in documents, "
		      f"{len(every & known.keys() - self.seen)} that no test can have")

	def mutate(self, path):
		"""Each member once, of whatever document has it first: renamed, removed, another type."""
		for name, doc in self.distinct(path):
			whole = self.schemas.whole[name]
			for member, schema, value, key in walk(whole, name, whole, doc):
				if member in self.seen:
					continue
				self.seen.add(member)
				self.refuses(member, whole, schema, value, key)

	def refuses(self, member, whole, schema, value, key):
		validator = jsonschema.Draft202012Validator({**schema, "$defs": whole["$defs"]})
		rest = {k: v for k, v in value.items() if k != key}
		wrong = [("renamed", {**rest, key + "_": value[key]}), ("another type", {**rest, key: [[value[key]]]})]
		if key in schema.get("required", []):
			wrong.append(("removed", rest))
		if not validator.is_valid(value):
			self.complain(f"{member}: refused as it is")
		for what, changed in wrong:
			if validator.is_valid(changed):
				self.complain(f"{member}: {what}, and not refused")


def check_schemas(schemas, complain):
	"""They are schemas, and strict ones."""
	for name, raw in schemas.raw.items():
		jsonschema.Draft202012Validator.check_schema(raw)
		complain_loose(name, raw, complain)
		if name != COMMON and raw["properties"]["format"] != {"const": name}:
			complain(f"{name}: its format is another one")
	for name, whole in schemas.whole.items():
		list(members(whole, name, whole))	# every $ref leads to a definition
	used = {m for name, whole in schemas.whole.items() for m in references(whole)}
	for name in schemas.raw[COMMON]["$defs"]:
		if not any(ref.split("/")[3:4] == [name] for ref in used):
			complain(f"{COMMON}: nothing refers to {name}")


def references(node):
	if isinstance(node, dict):
		for k, v in node.items():
			if k == "$ref":
				yield v
			else:
				yield from references(v)
	elif isinstance(node, list):
		for v in node:
			yield from references(v)


def complain_loose(where, node, complain):
	if isinstance(node, dict):
		if "properties" in node and "type" in node and node.get("additionalProperties") is not False:
			complain(f"{where}: an object that may have other members")
		for key in node.get("required", []) if "properties" in node and "type" in node else []:
			if key not in node["properties"]:
				complain(f"{where}: requires {key}, which it does not have")
		for k, v in node.items():
			complain_loose(f"{where}/{k}", v, complain)
	elif isinstance(node, list):
		for v in node:
			complain_loose(where, v, complain)


def main(argv):
	schemas = Schemas(argv[1])
	check = Check(schemas)
	args = argv[2:]
	if not args:
		check_schemas(schemas, check.complain)
		return check.nr_bad > 0
	unseen = None
	look = check.file
	if args[0] == "--unseen":
		unseen = args[1]
		args = args[2:]
	elif args[0] == "--mutate":
		look = check.mutate
		args = args[1:]
	for path in files(args):
		look(path)
	print(f"# {check.nr} documents in {check.nr_files} files, {len(check.done)} different ones")
	if unseen:
		check.unseen(unseen)
	return check.nr_bad > 0


if __name__ == "__main__":
	sys.exit(main(sys.argv))
