# SPDX-License-Identifier: GPL-2.0-or-later
# The messages of opentelemetry/proto/trace/v1/trace.proto, and what it needs of
# common.proto and resource.proto, in their JSON form: names in lowerCamelCase, bytes of
# ids as hex digits, 64-bit numbers as decimal strings, enums as numbers.  A field that
# is not here does not exist.  For each message in the input: an array of what is wrong.

def fields: {
	TracesData: { resourceSpans: "ResourceSpans*" },
	ResourceSpans: { resource: "Resource", scopeSpans: "ScopeSpans*", schemaUrl: "string" },
	Resource: { attributes: "KeyValue*", droppedAttributesCount: "uint32" },
	ScopeSpans: { scope: "InstrumentationScope", spans: "Span*", schemaUrl: "string" },
	InstrumentationScope: { name: "string", version: "string", attributes: "KeyValue*",
		droppedAttributesCount: "uint32" },
	Span: { traceId: "trace", spanId: "span", traceState: "string", parentSpanId: "span", flags: "uint32",
		name: "string", kind: "kind", startTimeUnixNano: "fixed64", endTimeUnixNano: "fixed64",
		attributes: "KeyValue*", droppedAttributesCount: "uint32", events: "Event*",
		droppedEventsCount: "uint32", links: "Link*", droppedLinksCount: "uint32", status: "Status" },
	Event: { timeUnixNano: "fixed64", name: "string", attributes: "KeyValue*",
		droppedAttributesCount: "uint32" },
	Link: { traceId: "trace", spanId: "span", traceState: "string", attributes: "KeyValue*",
		droppedAttributesCount: "uint32", flags: "uint32" },
	Status: { message: "string", code: "code" },
	KeyValue: { key: "string", value: "AnyValue" },
	AnyValue: { stringValue: "string", boolValue: "boolean", intValue: "int64", doubleValue: "double",
		arrayValue: "ArrayValue", kvlistValue: "KeyValueList", bytesValue: "string" },
	ArrayValue: { values: "AnyValue*" },
	KeyValueList: { values: "KeyValue*" }
};

def required: {
	Span: ["traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"],
	Event: ["timeUnixNano", "name"], Link: ["traceId", "spanId"], KeyValue: ["key", "value"]
};

def is_scalar_of($of):
	if $of == "string" then type == "string"
	elif $of == "boolean" then type == "boolean"
	elif $of == "double" then type == "number"
	elif $of == "uint32" then type == "number" and . >= 0 and . < 4294967296 and . == floor
	elif $of == "kind" then type == "number" and . >= 0 and . <= 5 and . == floor
	elif $of == "code" then . == 0 or . == 1 or . == 2
	elif $of == "fixed64" then type == "string" and test("^(0|[1-9][0-9]{0,19})$")
	elif $of == "int64" then type == "string" and test("^(0|-?[1-9][0-9]{0,18})$")
	elif $of == "trace" then type == "string" and test("^[0-9a-f]{32}$") and (test("^0*$") | not)
	elif $of == "span" then type == "string" and test("^[0-9a-f]{16}$") and (test("^0*$") | not)
	else false end;

def wrong($of; $path):
	if fields[$of] then
		if type != "object" then "\($path): no \($of)"
		else
			((required[$of] // [])[] as $key | select(has($key) | not) | "\($path): no \($key)"),
			(if $of == "AnyValue" and length != 1 then "\($path): not one value" else empty end),
			(to_entries[] | .key as $key | fields[$of][$key] as $want |
				if $want == null then "\($path): \($of) has no \($key)"
				elif $want | endswith("*") then
					if .value | type != "array" then "\($path).\($key): no array"
					else .value | to_entries[] | .key as $i |
						.value | wrong($want[:-1]; "\($path).\($key)[\($i)]") end
				else .value | wrong($want; "\($path).\($key)") end),
			(if has("attributes") and ((.attributes | map(.key)) as $keys | ($keys | unique | length) != ($keys | length))
			 then "\($path): a key twice" else empty end)
		end
	elif is_scalar_of($of) then empty
	else "\($path): \(tojson) is no \($of)" end;

[wrong("TracesData"; "")]
