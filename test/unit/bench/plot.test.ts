import { describe, expect, test } from '@jest/globals';
import { drawPlot, scaleOf } from '../../bench/plot.ts';

describe('a scale', () => {
  test.each([
    [
      [1000, 100],
      [0, 200, 400, 600, 800, 1000],
    ],
    [[0.07], [0, 0.02, 0.04, 0.06, 0.08]],
    [[5], [0, 1, 2, 3, 4, 5]],
    [[101], [0, 20, 40, 60, 80, 100, 120]],
    [[9_000], [0, 2_000, 4_000, 6_000, 8_000, 10_000]],
  ])('of %p has round ticks from zero that reach beyond it', (values, ticks) => {
    expect(scaleOf(values)).toEqual({ max: ticks.at(-1), ticks });
  });
});

test('a plot has its title, unit, labels and points, and a dashed floor', () => {
  const svg = drawPlot({
    title: 'Time & place',
    unit: 'ms',
    xLabel: 'SecretSyncs',
    curves: [
      {
        name: 'Keyframe',
        isFloor: false,
        points: [
          { x: 0, y: 0 },
          { x: 1000, y: 50 },
        ],
      },
      { name: 'floor', isFloor: true, points: [{ x: 500, y: 25 }] },
    ],
  });
  for (const text of ['Time &amp; place', '>ms<', '>SecretSyncs<', '>Keyframe<', '>1,000<', '>50<'])
    expect(svg).toContain(text);
  // The corners of the area, and its middle.
  expect(svg).toContain('<circle cx="76" cy="340"');
  expect(svg).toContain('<circle cx="612" cy="114"');
  expect(svg).toContain('<circle cx="344" cy="227"');
  expect(svg.match(/stroke-dasharray/g)).toHaveLength(2);
});
