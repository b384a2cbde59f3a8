// SPDX-License-Identifier: Apache-2.0
// echart.tsx - a picture by ECharts: only the kinds that are used, on a canvas, with tooltips that are painted and never HTML. What it shows
// stands in a table of the same page, so readers of screens pass it over.
import { ParallelChart, ScatterChart } from 'echarts/charts';
import { GridComponent, ParallelComponent, TooltipComponent } from 'echarts/components';
import { init, use, type EChartsCoreOption } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';
import { useEffect, useRef } from 'react';
import { useTheme } from './theme.ts';
import './chart.css';

use([ParallelChart, ScatterChart, GridComponent, ParallelComponent, TooltipComponent, CanvasRenderer]);

export function Picture({ option }: { option: () => EChartsCoreOption }) {
  const box = useRef<HTMLDivElement>(null);
  const theme = useTheme();
  useEffect(() => {
    const at = box.current;
    if (!at) return undefined;
    const chart = init(at, null, { renderer: 'canvas' });
    chart.setOption({ aria: { enabled: false }, animation: false, ...option() });
    const watch = new ResizeObserver(() => chart.resize());
    watch.observe(at);
    return () => {
      watch.disconnect();
      chart.dispose();
    };
  }, [option, theme]);
  return <div ref={box} className="picture" aria-hidden="true" />;
}
