import { AxisBottom, AxisLeft } from "@visx/axis";
import { GridRows } from "@visx/grid";
import { useParentSize } from "@visx/responsive";
import { scaleBand, scaleLinear } from "@visx/scale";
import { Bar } from "@visx/shape";
import type { ReactNode } from "react";
import { formatNumber } from "./labels.tsx";

interface Datum {
  label: string;
  count: number;
}

interface ChartProps {
  title: string;
  /** One sentence with what the chart shows, for those who do not see it. */
  summary: string;
  /** The same, or a part of it, for everybody. */
  note?: string;
  /** What the first column of the table is called. */
  category: string;
  data: readonly Datum[];
}

const COLUMN_HEIGHT = 220;
const ROW_HEIGHT = 32;
const LABEL_WIDTH = 144;
const MARGIN = { top: 12, right: 28, bottom: 28 };
/** More than a digit of the labels is wide. */
const DIGIT_WIDTH = 9;
const RESIZE_PAUSE_MS = 50;
/** Always the same list: another one would start the measuring again at every render. */
const IGNORED_SIZES = ["height" as const, "top" as const, "left" as const];
/** A label of a column needs this much. */
const TICK_WIDTH = 64;

/** Upright bars, for what has an order in time or size. */
export function ColumnChart(props: ChartProps) {
  return (
    <Chart {...props}>
      {(width) => {
        const { data } = props;
        const highest = Math.max(1, ...data.map(({ count }) => count));
        const y = scaleLinear({ domain: [0, highest], range: [COLUMN_HEIGHT - MARGIN.bottom, MARGIN.top], nice: 4 });
        const ticks = y.ticks(4).filter(Number.isInteger);
        const left = widthOf(Math.max(...ticks)) + 12;
        const x = scaleBand({
          domain: data.map(({ label }) => label),
          range: [left, width - MARGIN.right],
          padding: 0.25,
        });
        const every = Math.ceil((data.length * TICK_WIDTH) / Math.max(TICK_WIDTH, width - left));
        return (
          <svg className="chart" width={width} height={COLUMN_HEIGHT} role="img" aria-label={props.summary}>
            <GridRows
              scale={y}
              left={left}
              width={width - left - MARGIN.right}
              tickValues={ticks}
              className="chart-grid"
            />
            {data.map(({ label, count }) => (
              <Bar
                key={label}
                className="chart-bar"
                x={x(label) ?? 0}
                y={y(count)}
                width={x.bandwidth()}
                height={y(0) - y(count)}
                rx={Math.min(3, x.bandwidth() / 4)}
              >
                <title>{`${label}: ${formatNumber(count)}`}</title>
              </Bar>
            ))}
            <AxisLeft
              scale={y}
              left={left}
              tickValues={ticks}
              tickFormat={(value) => formatNumber(Number(value))}
              hideAxisLine
              hideTicks
              tickLabelProps={{ className: "chart-label", textAnchor: "end", dx: -4, dy: 4 }}
            />
            <AxisBottom
              scale={x}
              top={COLUMN_HEIGHT - MARGIN.bottom}
              // Counted from the end: the last column is the one that is looked for.
              tickValues={data.filter((_, index) => (data.length - 1 - index) % every === 0).map(({ label }) => label)}
              hideTicks
              axisClassName="chart-axis"
              tickLabelProps={{ className: "chart-label", textAnchor: "middle" }}
            />
          </svg>
        );
      }}
    </Chart>
  );
}

/** Lying bars, for what has names. */
export function RowChart(props: ChartProps) {
  return (
    <Chart {...props}>
      {(width) => {
        const { data } = props;
        const highest = Math.max(1, ...data.map(({ count }) => count));
        const height = data.length * ROW_HEIGHT;
        const y = scaleBand({ domain: data.map(({ label }) => label), range: [0, height], padding: 0.3 });
        const x = scaleLinear({
          domain: [0, highest],
          range: [0, Math.max(0, width - LABEL_WIDTH - widthOf(highest) - 16)],
        });
        return (
          <svg className="chart" width={width} height={height} role="img" aria-label={props.summary}>
            {data.map(({ label, count }) => {
              const middle = (y(label) ?? 0) + y.bandwidth() / 2;
              return (
                <g key={label}>
                  <text className="chart-label" x={LABEL_WIDTH - 8} y={middle} dy="0.35em" textAnchor="end">
                    {shorten(label)}
                  </text>
                  <Bar
                    className="chart-bar"
                    x={LABEL_WIDTH}
                    y={y(label) ?? 0}
                    width={Math.max(2, x(count))}
                    height={y.bandwidth()}
                    rx={3}
                  >
                    <title>{`${label}: ${formatNumber(count)}`}</title>
                  </Bar>
                  <text className="chart-value" x={LABEL_WIDTH + Math.max(2, x(count)) + 8} y={middle} dy="0.35em">
                    {formatNumber(count)}
                  </text>
                </g>
              );
            })}
          </svg>
        );
      }}
    </Chart>
  );
}

/** Room for a number as a label, so that it is not clipped. */
function widthOf(count: number): number {
  return formatNumber(count).length * DIGIT_WIDTH;
}

function shorten(label: string): string {
  return label.length > 17 ? `${label.slice(0, 16).trimEnd()}…` : label;
}

function Chart({ title, note, data, category, children }: ChartProps & { children: (width: number) => ReactNode }) {
  const { parentRef, width } = useParentSize({
    debounceTime: RESIZE_PAUSE_MS,
    // A width that lasts for a moment, as while the window is resized, is not drawn.
    enableDebounceLeadingCall: false,
    ignoreDimensions: IGNORED_SIZES,
  });
  return (
    <figure className="card chart-card">
      <figcaption>
        <h2>{title}</h2>
        {note && <p className="chart-note">{note}</p>}
      </figcaption>
      <div className="chart-space" ref={parentRef}>
        {width > 0 && children(width)}
      </div>
      <details className="chart-table">
        <summary>Show as a table</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{category}</th>
              <th scope="col">Messages</th>
            </tr>
          </thead>
          <tbody>
            {data.map(({ label, count }) => (
              <tr key={label}>
                <th scope="row">{label}</th>
                <td>{formatNumber(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}
