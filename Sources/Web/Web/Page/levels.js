// The levels of a battery that the bridge keeps: those since the last charge, also of the time before the page's server ran.

const longest = 90 * 24 * 3600000;

// Reads the result of `request/battery_history`: pairs of time and level, in order of time.
export function levelsOf(data) {
  const points = Array.isArray(data?.points) ? data.points : [];
  return points.map(({time, level}) => [Date.parse(time), level]).filter(([time, level]) => !Number.isNaN(time) && level >= 0 && level <= 100);
}

// Rows of a chart whose unknown slots have the levels of the bridge. A long row begins with the first level.
export function withLevels({battery, connection, slot, end}, levels, isLong) {
  if (levels.length === 0) return {battery, connection};
  const first = Math.max(levels[0][0], end - longest);
  const missing = isLong ? Math.max(0, Math.ceil((end - first) / slot) - battery.length) : 0;
  const before = Array(missing).fill(null), row = [...before, ...battery], start = end - row.length * slot;
  let next = 0;
  const filled = row.map((value, index) => {
    while (next < levels.length && levels[next][0] < start + (index + 1) * slot) next += 1;
    return value ?? levels[next - 1]?.[1] ?? null;
  });
  return {battery: filled, connection: [...before, ...connection]};
}
