"""What the rounds came to, as a table in Markdown."""

FAULTS = ("lost", "doubled", "disorder", "wrong", "undelivered", "unanswered")


def best(rounds):
    """Of each figure the best round; of the slowest event and of what must not happen, the worst."""
    keys = sorted({key for figures in rounds for key in figures})
    return {key: pick(key, [figures[key] for figures in rounds if key in figures]) for key in keys}


def pick(key, values):
    return max(values) if key.endswith((".rate", ".slowest_us") + FAULTS) else min(values)


def rows(options):
    out = [("start to the first subscription, ms", "start.first_ms"),
           (f"start to {options.tags} tags connected, ms", "start.all_ms"), ("start: CPU, ms", "start.cpu_ms"),
           (f"idle with {options.tags} tags: CPU, ms/s", "idle.cpu_ms_s"), ("idle: wake-ups/s", "idle.wakeups_s"),
           ("threads", "memory.threads")]
    for tags in options.growth:
        out += [(f"start to {tags} tags connected, ms", f"growth.{tags}.start_ms"), ("... CPU, ms", f"growth.{tags}.start_cpu_ms"),
                (f"memory with {tags} tags: RSS, MB", f"growth.{tags}.rss_mb"),
                (f"{tags} tags: CPU of a gesture, us", f"growth.{tags}.cpu_us")]
    out += [("memory of a further tag, kB", "growth.kb_per_tag")]
    out += [(f"start with {count} absent tags: CPU, ms", f"known.{count}.cpu_ms") for count in options.known]
    for rate in options.rates:
        out += [(f"gesture at {rate}/s: CPU, us", f"{rate}.cpu_us"), ("... latency p50, us", f"{rate}.p50_us"),
                ("... latency p99, us", f"{rate}.p99_us"), ("... the slowest, us", f"{rate}.slowest_us")]
    out += [("gesture flat out: CPU, us", "burst.cpu_us"), ("... gestures/s", "burst.rate"),
            ("LED: command to write, p50, us", "led.write.p50_us"), ("... p99, us", "led.write.p99_us"),
            ("LED: command to result, p50, us", "led.result.p50_us"), ("... CPU, us", "led.cpu_us"),
            ("memory at the end: RSS, MB", "after.rss_mb")]
    return out


def number(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def table(options, mode, results, base="floor"):
    """The table of one way of notification, with ratios to the floor."""
    names = list(results)
    others = [name for name in names if name != base and base in results]
    lines = [f"Best of {options.rounds} rounds, {options.tags} tags, by {'AcquireNotify' if mode == 'acquire' else 'signals'}:", "",
             "| | " + " | ".join(names + [f"{name} / {base}" for name in others]) + " |",
             "|---" * (1 + len(names) + len(others)) + "|"]
    for label, key in rows(options):
        if not any(key in results[name] for name in names):
            continue
        cells = [number(results[name][key]) if key in results[name] else "-" for name in names]
        cells += [f"{results[name][key] / results[base][key]:.2f}" if results[base].get(key) and key in results[name] else "-"
                  for name in others]
        lines.append(f"| {label} | " + " | ".join(cells) + " |")
    lines.append("")
    for name in names:
        faults = {key: value for key, value in results[name].items() if key.endswith(FAULTS) and value}
        lines.append(f"- {name}: " + (", ".join(f"{key} {value:g}" for key, value in faults.items())
                                      or "nothing lost, doubled, reordered or wrong; every command answered"))
    return "\n".join(lines) + "\n"
