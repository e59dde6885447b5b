import { useComputedColorScheme } from "@mantine/core";
import { BarChart, HeatmapChart, LineChart, PieChart } from "echarts/charts";
import { GridComponent, LegendComponent, TooltipComponent, VisualMapComponent } from "echarts/components";
import { type EChartsCoreOption, init, use } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";
import { useEffect, useRef } from "react";
import classes from "./parts.module.css";

use([
  BarChart,
  HeatmapChart,
  LineChart,
  PieChart,
  GridComponent,
  LegendComponent,
  TooltipComponent,
  VisualMapComponent,
  CanvasRenderer,
]);

/** Colours of lines and bars, told apart by those who do not see red and green too. */
export const CHART_COLOURS = ["#0f8a73", "#e0912f", "#4a7fd0", "#b05fa8", "#7a8a2e", "#c8553d", "#5c6f80"];

interface ChartProps {
  option: EChartsCoreOption;
  /** What the picture shows, for who does not see it. The page has the same figures in words or in a table. */
  label: string;
  height?: number;
  /** Called with the point that was clicked: the index of its category and the name of its series. */
  onPick?: (point: { dataIndex: number; seriesName: string; name: string }) => void;
}

/** A chart by ECharts. Tooltips are drawn into the canvas: text of customers never becomes HTML. */
export default function Chart({ option, label, height = 240, onPick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  const pick = useRef(onPick);
  pick.current = onPick;
  useEffect(() => {
    const node = place.current;
    if (!node) return;
    const ink = scheme === "dark" ? "#a3aca8" : "#5a625f";
    const line = scheme === "dark" ? "#303835" : "#e4e1d9";
    const chart = init(node, null, { renderer: "canvas" });
    const axis = {
      axisLabel: { color: ink, hideOverlap: true },
      axisLine: { lineStyle: { color: line } },
      splitLine: { lineStyle: { color: line } },
    };
    const dressed = (given: unknown): unknown => {
      if (Array.isArray(given)) return given.map(dressed);
      const own = given as { axisLabel?: object };
      return { ...axis, ...own, axisLabel: { ...axis.axisLabel, ...own.axisLabel } };
    };
    const { xAxis, yAxis, tooltip, legend, ...rest } = option;
    chart.setOption({
      color: CHART_COLOURS,
      textStyle: { fontFamily: "inherit" },
      animation: !window.matchMedia("(prefers-reduced-motion: reduce)").matches,
      grid: { left: 8, right: 16, top: 24, bottom: 8, containLabel: true },
      ...rest,
      ...(xAxis ? { xAxis: dressed(xAxis) } : {}),
      ...(yAxis ? { yAxis: dressed(yAxis) } : {}),
      ...(legend ? { legend: { textStyle: { color: ink }, ...(legend as object) } } : {}),
      tooltip: { confine: true, ...((tooltip as object) ?? {}), renderMode: "richText" },
    });
    chart.on("click", (event) => pick.current?.(event as never));
    const observer = new ResizeObserver(() => chart.resize());
    observer.observe(node);
    return () => {
      observer.disconnect();
      chart.dispose();
    };
  }, [option, scheme]);
  return <div ref={place} className={classes.chart} style={{ height }} role="img" aria-label={label} />;
}
