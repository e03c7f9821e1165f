# SPDX-License-Identifier: GPL-2.0-or-later
# Reads what protoc --decode=Trace made of a Perfetto trace, and reports what readers of the format
# do not expect:
#
#	unknown		a field that is not in the schema
#	state		a packet that needs a sequence's state before it was cleared
#	time		a packet before the one before it in its sequence; a switch before
#			the one before it on its CPU
#	interned	a number that was not given a meaning in its sequence, or two
#	track		an event on a track that was not described, or a track described twice
#	balance		an end without a begin, a begin without an end
#	flow		a flow without a first and a last event, or the last one before the first
#	counter		a value below zero, or one that is not zero in the end
#	switch		who leaves a CPU is not who came to it
#
# The last lines count: "count KIND: VALUE".  Ids of 64 bits are kept as text.

function bad(what, text)
{
	print "bad " what ": " text " (line " NR ")"
	nr_bad++
}

function value(line)
{
	sub(/^[^:]*: /, "", line)
	return line
}

function unquote(text)
{
	return substr(text, 2, length(text) - 2)
}

function define(kind, iid, meaning)
{
	if ((seq, kind, iid) in meant && meant[seq, kind, iid] != meaning)
		bad("interned", kind " " iid " twice")
	meant[seq, kind, iid] = meaning
}

function look(kind, iid)
{
	if (!((seq, kind, iid) in meant))
		bad("interned", kind " " iid " of sequence " seq " not defined")
	return meant[seq, kind, iid]
}

function on_begin(  category)
{
	category = unquote(look("event_categories", event["category_iids"]))
	look("event_names", event["name_iid"])
	if (event["source_location_iid"] != "")
		look("source_locations", event["source_location_iid"])
	depth[track]++
	begun[track, depth[track]] = stamp
	begin_category[track, depth[track]] = category (note["open"] == "true" ? " open" : "")
	nr["begin"]++
	nr["begin " category]++
	if (note["open"] != "true")
		sum[category] += note["duration_ns"]
	else
		nr["open " category]++
	if (category == "request" && note["latency_ns"] != "") {
		nr["request instances"]++
		sum["request instances"] += note["latency_ns"]
	}
	if (event["correlation_id"] != "")
		nr["correlated"]++
}

function on_end()
{
	if (!depth[track]) {
		bad("balance", "end without a begin on track " track)
		return
	}
	depth[track]--
	nr["end"]++
}

function on_counter()
{
	if (event["counter_value"] + 0 < 0)
		bad("counter", "below zero on track " track)
	if (event["counter_value"] + 0 > nr["counter max"])
		nr["counter max"] = event["counter_value"] + 0
	counter[track] = event["counter_value"]
	nr["counter values"]++
}

function on_event(  i)
{
	track = event["track_uuid"] != "" ? event["track_uuid"] : default_track[seq]
	if (!(track in described))
		bad("track", "event on track " track ", which was not described")
	if (event["type"] == "TYPE_SLICE_BEGIN")
		on_begin()
	else if (event["type"] == "TYPE_SLICE_END")
		on_end()
	else if (event["type"] == "TYPE_COUNTER")
		on_counter()
	else if (event["type"] == "TYPE_INSTANT")
		nr["instant"]++
	else
		bad("unknown", "type of event")
	for (i = 1; i <= nr_flows; i++) {
		if (!(flow[i] in flow_first) || stamp < flow_first[flow[i]])
			flow_first[flow[i]] = stamp
		flow_events[flow[i]]++
	}
	for (i = 1; i <= nr_last; i++) {
		if (last[i] in flow_last)
			bad("flow", last[i] " ends twice")
		flow_last[last[i]] = stamp
	}
}

function on_switch()
{
	if (cpu in has_cpu && has_cpu[cpu] != ev["prev_pid"])
		bad("switch", ev["prev_pid"] " leaves CPU " cpu ", which " has_cpu[cpu] " had")
	has_cpu[cpu] = ev["next_pid"]
	nr["switch"]++
	if (ev["prev_pid"] + 0 < 2147483645 && ev["prev_pid"] != "0" && cpu in switched)
		on_cpu[ev["prev_pid"]] += ev["timestamp"] - switched[cpu]
	switched[cpu] = ev["timestamp"]
}

function on_ftrace()
{
	if (cpu in cpu_time && ev["timestamp"] + 0 < cpu_time[cpu])
		bad("time", "CPU " cpu " goes back")
	cpu_time[cpu] = ev["timestamp"] + 0
	if (ev["next_pid"] != "")
		on_switch()
	else
		nr["waking"]++
}

function end_packet()
{
	if (seq == "")
		bad("state", "a packet without a sequence")
	if (flags == 2 && !(seq in cleared))
		bad("state", "sequence " seq " was not cleared")
	if (flags == 1) {
		if (seq in cleared)
			bad("state", "sequence " seq " cleared twice")
		cleared[seq] = 1
	}
	if (packet_default != "")
		default_track[seq] = packet_default
	if (is_descriptor) {
		if (uuid in described)
			bad("track", "track " uuid " described twice")
		if (parent != "" && !(parent in described))
			bad("track", "parent " parent " not described")
		described[uuid] = 1
		nr["tracks"]++
	}
	if (!is_event)
		return
	if (seq in seq_time && stamp < seq_time[seq])
		bad("time", "sequence " seq " goes back from " seq_time[seq] " to " stamp)
	seq_time[seq] = stamp
	if (flags != 2)
		bad("state", "an event that does not say that it needs the state")
	on_event()
}

/^ *[0-9]+(:| \{)/ { bad("unknown", $0) }

/^packet \{/ {
	seq = stamp = flags = packet_default = uuid = parent = ""
	is_event = is_descriptor = nr_flows = nr_last = 0
	split("", event)
	split("", note)
	split("", waiting)
	nr_waiting = 0
	next
}
# Interned data and annotations are looked up at the end of the packet.
/^  timestamp: / { stamp = $2 + 0; next }
/^  trusted_packet_sequence_id: / { seq = $2; next }
/^  sequence_flags: / { flags = $2 + 0; next }
/^  track_event \{/ { is_event = 1; next }
/^  track_descriptor \{/ { is_descriptor = 1; next }
/^    uuid: / { uuid = $2; next }
/^    parent_uuid: / { parent = $2; next }
/^      track_uuid: / { packet_default = $2; next }
/^    (event_categories|event_names|debug_annotation_names|source_locations|debug_annotation_string_values) \{/ {
	kind = $1
	iid = text = ""
	in_entry = 1
	next
}
in_entry && /^      iid: / { iid = $2; next }
in_entry && /^      [a-z_]+: / { text = text value($0); next }
in_entry && /^    \}/ {
	# The packet's text may name the sequence after this.
	waiting[++nr_waiting] = kind SUBSEP iid SUBSEP text
	in_entry = 0
	next
}
/^    flow_ids: / { flow[++nr_flows] = $2; next }
/^    terminating_flow_ids: / { last[++nr_last] = $2; next }
/^    debug_annotations \{/ { in_note = 1; note_name = note_value = note_text = ""; next }
in_note && /^      name_iid: / { note_name = $2; next }
in_note && /^      string_value_iid: / { note_text = $2; next }
in_note && /^      [a-z_]+: / { note_value = value($0); next }
in_note && /^    \}/ {
	notes[++nr_notes] = note_name SUBSEP note_value SUBSEP note_text
	in_note = 0
	next
}
/^    [a-z_]+: / { event[substr($1, 1, length($1) - 1)] = value($0) }
/^    cpu: / { cpu = $2; next }
/^    event \{/ { split("", ev); in_ftrace = 1; next }
in_ftrace && /^ +[a-z_]+: / { ev[substr($1, 1, length($1) - 1)] = value($0); next }
in_ftrace && /^    \}/ { on_ftrace(); in_ftrace = 0; next }
/^\}/ {
	for (i = 1; i <= nr_waiting; i++) {
		split(waiting[i], part, SUBSEP)
		define(part[1], part[2], part[3] == "" ? "\"\"" : part[3])
	}
	for (i = 1; i <= nr_notes; i++) {
		split(notes[i], part, SUBSEP)
		name = unquote(look("debug_annotation_names", part[1]))
		if (part[3] != "")
			look("debug_annotation_string_values", part[3])
		note[name] = part[2]
	}
	nr_notes = 0
	end_packet()
}

END {
	for (t in depth)
		if (depth[t])
			bad("balance", depth[t] " begins without an end on track " t)
	for (f in flow_first)
		if (!(f in flow_last))
			bad("flow", f " does not end")
		else if (flow_last[f] <= flow_first[f])
			bad("flow", f " ends before it begins")
	for (f in flow_last)
		if (!(f in flow_first))
			bad("flow", f " ends and did not begin")
		else
			nr["flows"]++
	for (t in counter)
		if (counter[t] != 0)
			bad("counter", "track " t " does not come back to zero")
	for (p in on_cpu)
		total_on_cpu += on_cpu[p]
	for (k in nr)
		printf("count %s: %d\n", k, nr[k])
	for (k in sum)
		printf("sum %s: %.0f\n", k, sum[k])
	for (p in on_cpu)
		printf("on_cpu %s: %.0f\n", p, on_cpu[p])
	printf("count bad: %d\n", nr_bad)
}
