// SPDX-License-Identifier: GPL-2.0

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	dto "github.com/prometheus/client_model/go"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/util/flowcontrol/metrics"
	"k8s.io/component-base/metrics/legacyregistry"
)

// touchMetrics makes all series appear that have enumerations among their labels,
// and one of each other metric.
func touchMetrics() {
	const level, schema = "level", "schema"
	ctx := context.Background()
	watch := apirequest.WithRequestInfo(ctx, &apirequest.RequestInfo{Verb: "watch"})

	metrics.Register()
	metrics.AddReject(ctx, level, schema, "reason")
	metrics.AddDispatch(ctx, level, schema)
	metrics.AddRequestsInQueues(ctx, level, schema, 1)
	metrics.AddSeatsInQueues(ctx, level, schema, 1)
	metrics.AddRequestsExecuting(ctx, level, schema, 1)
	metrics.AddSeatConcurrencyInUse(level, schema, 1)
	metrics.SetCurrentR(level, 1)
	metrics.SetDispatchMetrics(level, 1, 1, 1, 1, 1, 1)
	metrics.ObserveQueueLength(ctx, level, schema, 1)
	for _, execute := range []string{"false", "true"} {
		metrics.ObserveWaitingDuration(ctx, level, schema, execute, 1)
	}
	metrics.ObserveExecutionDuration(ctx, level, schema, 1)
	metrics.ObserveExecutionDuration(watch, level, schema, 1)
	metrics.ObserveWatchCount(ctx, level, schema, 1)
	metrics.AddEpochAdvance(ctx, level, true)
	metrics.ObserveWorkEstimatedSeats(level, schema, 1)
	metrics.AddDispatchWithNoAccommodation(level, schema)
	metrics.SetPriorityLevelConfiguration(level, 1, 1, 1)
	metrics.NotePriorityLevelConcurrencyAdjustment(level, 1, 1, 1, 1, 1, 1)
	metrics.SetFairFrac(1)
	metrics.GetWaitingReadonlyConcurrency().Set(1)
	metrics.GetWaitingMutatingConcurrency().Set(1)
	metrics.GetExecutingReadonlyConcurrency().Set(1)
	metrics.GetExecutingMutatingConcurrency().Set(1)
	metrics.PriorityLevelExecutionSeatsGaugeVec.
		NewForLabelValuesSafe(1, 1, []string{level}).Set(1)
	metrics.ApiserverSeatDemands.
		NewForLabelValuesSafe(1, 1, []string{level}).Set(1)
	for _, phase := range []string{metrics.LabelValueWaiting,
		metrics.LabelValueExecuting} {
		metrics.PriorityLevelConcurrencyGaugeVec.
			NewForLabelValuesSafe(1, 1, []string{phase, level}).Set(1)
	}
}

// labelsOf are those of all series, with the values of enumerations.
func labelsOf(family *dto.MetricFamily) string {
	values := map[string][]string{}
	for _, metric := range family.Metric {
		for _, label := range metric.Label {
			name := label.GetName()
			values[name] = append(values[name], label.GetValue())
		}
	}
	var labels []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		slices.Sort(values[name])
		switch name {
		case "priority_level", "flow_schema", "reason":
			labels = append(labels, name)
		default:
			labels = append(labels, name+"="+strings.Join(
				slices.Compact(values[name]), "|"))
		}
	}
	return strings.Join(labels, ",")
}

// bucketsOf are the upper bounds of a histogram, but for infinity.
func bucketsOf(family *dto.MetricFamily) string {
	var bounds []string
	for _, bucket := range family.Metric[0].GetHistogram().GetBucket() {
		bounds = append(bounds, strconv.FormatFloat(
			bucket.GetUpperBound(), 'g', -1, 64))
	}
	return strings.Join(slices.DeleteFunc(bounds, func(bound string) bool {
		return bound == "+Inf"
	}), " ")
}

// printMetrics prints a line for each of the reference's metrics: its name, type,
// labels and buckets.
func printMetrics() error {
	touchMetrics()
	families, err := legacyregistry.DefaultGatherer.Gather()
	if err != nil {
		return err
	}
	for _, family := range families {
		if strings.HasPrefix(family.GetName(), "apiserver_flowcontrol_") {
			fmt.Println(strings.TrimSpace(fmt.Sprintln(family.GetName(),
				strings.ToLower(family.GetType().String()),
				"{"+labelsOf(family)+"}", bucketsOf(family))))
		}
	}
	return nil
}
